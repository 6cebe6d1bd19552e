# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Which QEMU the lab runs. $LATKIT_QEMU wins; then the machine's own if it is
# version 10 or later; then version 10 from bookworm-backports, unpacked into the
# cache with those libraries the machine lacks, never installed; then whatever
# QEMU the machine has. Sourced after common.sh.

QEMU_SUITES=bookworm,bookworm-security,bookworm-backports
QEMU_WANTED=10

# Debian architecture of the guest -> QEMU program and the package that has it.
declare -A QEMU_PROGRAM=([amd64]=qemu-system-x86_64 [arm64]=qemu-system-aarch64)
declare -A QEMU_PACKAGE=([amd64]=qemu-system-x86 [arm64]=qemu-system-arm)

qemu_major() { "$@" --version 2>/dev/null | sed -n 's/^QEMU emulator version \([0-9]*\).*/\1/p'; }

# The cached one's command line. It is asked for its version before it is used,
# which also notices that a library of the machine's own has gone since.
qemu_cached() {
	local root=$1 program=$2 triplet
	[[ -x $root/usr/bin/$program ]] || return
	triplet=$(basename "$(dirname "$(find "$root/usr/lib" -maxdepth 2 -path '*-linux-gnu/qemu' -print -quit)")")
	QEMU=(env "LD_LIBRARY_PATH=$root/usr/lib/$triplet:$root/lib/$triplet"
		"QEMU_MODULE_DIR=$root/usr/lib/$triplet/qemu"
		"$root/usr/bin/$program" -L "$root/usr/share/qemu" -L "$root/usr/share/seabios")
	[[ $(qemu_major "${QEMU[@]}") -ge $QEMU_WANTED ]]
}

qemu_fetch_locked() {
	local root=$1 arch=$2 part=$1.part.$BASHPID deb
	! qemu_cached "$root" "${QEMU_PROGRAM[$arch]}" || return 0
	# Resolved against what is installed here, so only missing libraries come.
	private_apt "$QEMU_SUITES" "$(dpkg --print-architecture)" "$(status_file)"
	private_update missing || return
	rm -rf "$part"
	mkdir -p "$part/.debs/partial"
	say "fetching QEMU from bookworm-backports"
	apt-get "${APT[@]}" -y --no-install-recommends -t bookworm-backports --download-only \
		-o "Dir::Cache::archives=$part/.debs" install "${QEMU_PACKAGE[$arch]}" >"$part/.log" 2>&1 ||
		{ rm -rf "$part"; return 1; }
	for deb in "$part"/.debs/*.deb; do
		dpkg -x "$deb" "$part" || return
	done
	rm -rf "$part/.debs" "$part/usr/share/doc" "$root"
	mv "$part" "$root"
}

status_file() {
	local file
	eval "$(apt-config shell file Dir::State::status/f)"
	printf '%s\n' "$file"
}

bookworm_host() { (. /etc/os-release && [[ ${ID:-}-${VERSION_CODENAME:-} == debian-bookworm ]]) 2>/dev/null; }

# find_qemu ARCH: set QEMU, the command line's beginning.
find_qemu() {
	local arch=$1 program=${QEMU_PROGRAM[$1]} root=$CACHE/qemu-$1
	if [[ -n ${LATKIT_QEMU:-} ]]; then
		QEMU=("$LATKIT_QEMU")
		command -v "$LATKIT_QEMU" >/dev/null || die "LATKIT_QEMU=$LATKIT_QEMU is no program"
		return
	fi
	! qemu_cached "$root" "$program" || return 0
	QEMU=("$program")
	[[ $(qemu_major "$program") -lt $QEMU_WANTED ]] || return 0
	if bookworm_host && with_lock "$root.lock" qemu_fetch_locked "$root" "$arch" && qemu_cached "$root" "$program"; then
		return
	fi
	QEMU=("$program")
	[[ -n $(qemu_major "$program") ]] || die "no QEMU here and none could be fetched: run scripts/deps lab"
	say "QEMU $QEMU_WANTED could not be fetched, using $("$program" --version | head -n 1): no igb"
}
