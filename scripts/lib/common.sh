# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What scripts/deps, scripts/kernels and scripts/lab share: where the cache is,
# how messages look, how a lock is taken, and how packages of any Debian suite
# are found and unpacked through a private apt directory, so that the machine's
# own apt sources and installed packages are never touched.

# shellcheck disable=SC2034 # the scripts that source this use it
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/latkit

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "$*"; exit 1; }

# with_lock FILE COMMAND...: run COMMAND, in a subshell, while holding FILE's lock.
with_lock() {
	local file=$1
	shift
	mkdir -p "$(dirname "$file")"
	(
		flock 9
		"$@"
	) 9>"$file"
}

# The sources this machine has, as "URI SUITE" lines, without a package list having
# ever been fetched.
apt_sources() {
	apt-get -o Debug::NoLocking=1 --print-uris update 2>/dev/null |
		sed -nE "s#^'(.*)/dists/(.*)/InRelease' .*#\1 \2#p"
}

# The URIs of the machine's own Debian archive, so that no host name is kept in
# this tree. A machine without Debian sources names them in the environment.
# The archive proper is known by its -updates suite, which nobody else has.
debian_uri() {
	local uri=${LATKIT_DEBIAN_URI:-}
	[[ -n $uri ]] || uri=$(apt_sources | awk '$2 ~ /-updates$/ && $1 !~ /ubuntu/ { print $1; exit }')
	[[ -n $uri ]] || uri=$(apt_sources | awk '$1 ~ /:\/\/[^\/]+\/debian$/ { print $1; exit }')
	printf '%s\n' "${uri%/}"
}

security_uri() {
	local uri=${LATKIT_DEBIAN_SECURITY_URI:-}
	[[ -n $uri ]] || uri=$(apt_sources | awk '$2 ~ /-security$/ && $1 !~ /ubuntu/ { print $1; exit }')
	[[ -n $uri ]] || uri=$(debian_uri | sed -n 's#/debian$#/debian-security#p')
	printf '%s\n' "${uri%/}"
}

# deb_line SUITE: the sources line that reaches SUITE.
deb_line() {
	local suite=$1 uri keyring=/usr/share/keyrings/debian-archive-keyring.gpg signed=
	case $suite in
	*-security) uri=$(security_uri) ;;
	*) uri=$(debian_uri) ;;
	esac
	[[ -n $uri ]] || die "no Debian archive in this machine's apt sources: name one in LATKIT_DEBIAN_URI, and its LATKIT_DEBIAN_SECURITY_URI"
	[[ -r $keyring ]] && signed="signed-by=$keyring "
	printf 'deb [%sarch=%s] %s %s main\n' "$signed" "$APT_ARCH" "$uri" "$suite"
}

# private_apt SUITES ARCH [STATUS]: prepare the private directory for a comma
# separated list of suites and set APT, the options that make apt use it. STATUS
# is the dpkg status file to resolve against; none by default.
private_apt() {
	local suites=$1 dir
	APT_ARCH=$2
	dir=$CACHE/apt/${suites//,/+}-$APT_ARCH
	APT_DIR=$dir
	APT_SUITES=$suites
	APT=(-q -o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=/dev/null
		-o "Dir::State::lists=$dir/lists" -o "Dir::Cache=$dir/cache"
		-o "Dir::State::status=${3:-/dev/null}" -o "APT::Architecture=$APT_ARCH"
		-o APT::Sandbox::User=root -o Debug::NoLocking=1)
	command -v apt-get >/dev/null || die "apt-get is needed to find Debian packages"
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
}

write_sources() {
	local suite
	for suite in ${1//,/ }; do
		deb_line "$suite" || exit 1
	done >"$2.$BASHPID"
	mv "$2.$BASHPID" "$2"
}

# Called with the lock of the private directory held.
private_update_locked() {
	[[ ${1:-} != missing || ! -e $APT_DIR/updated ]] || return 0
	write_sources "$APT_SUITES" "$APT_DIR/sources.list"
	if ! apt-get "${APT[@]}" -o APT::Update::Error-Mode=any update >"$APT_DIR/update.log" 2>&1; then
		cat "$APT_DIR/update.log" >&2
		die "the package index could not be fetched"
	fi
	touch "$APT_DIR/updated"
}

# private_update [missing]: fetch the package index, with `missing` only if it
# has never been fetched.
private_update() { with_lock "$APT_DIR/lock" private_update_locked "${1:-}"; }

# newest_package REGEX: the last name, in version order, that matches as a whole.
newest_package() {
	apt-cache "${APT[@]}" search --names-only '^linux-' | cut -d' ' -f1 | grep -xE -e "$1" | sort -V | tail -n 1
}

# package_field PACKAGE FIELD of the version apt would install.
package_field() {
	apt-cache "${APT[@]}" --no-all-versions show "$1" | sed -n "s/^$2: //p" | head -n 1
}

# download_unpack DIR PACKAGE...: unpack the packages' files into DIR.
download_unpack() {
	local dir=$1 deb
	shift
	mkdir -p "$dir/.debs"
	(cd "$dir/.debs" && apt-get "${APT[@]}" download "$@") >"$dir/.log" 2>&1 ||
		{ cat "$dir/.log" >&2; return 1; }
	for deb in "$dir"/.debs/*.deb; do
		dpkg -x "$deb" "$dir" || return 1
	done
	rm -rf "$dir/.debs" "$dir/.log"
}
