# SPDX-License-Identifier: GPL-2.0-only
# The front end of the build: kernel modules by kbuild (see Kbuild, modules/Kbuild), programs by
# userspace/Makefile, tests by scripts/check. `make help` lists the targets.

KDIR    ?= /lib/modules/$(shell uname -r)/build
prefix  ?= /usr/local
DESTDIR ?=
VERSION := $(shell cat VERSION)

all: modules userspace ## modules for this machine's kernel, and programs

help: ## this list
	@echo 'latkit $(VERSION)'
	@sed -n 's/^\([a-z][a-z_-]*\):.*## \(.*\)/  \1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
		awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'
	@echo 'KDIR=DIR builds for other headers; W=1 C=1 V=1 LLVM=1 are passed on to kbuild.'
	@echo 'KERNELS="NAME ..." narrows the checks; prefix and DESTDIR are those of install.'

# ---- build -------------------------------------------------------------------------

$(KDIR):
	@echo 'no kernel headers at $(KDIR): install linux-headers-$(shell uname -r), or say KDIR=DIR' >&2
	@false

modules: | $(KDIR) ## modules against KDIR, in place
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

modules_install: | $(KDIR) ## install the modules (DESTDIR)
	$(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_PATH=$(DESTDIR) modules_install

# The programs came later than the modules: a tree without them builds as well.
has-userspace := $(wildcard userspace/Makefile)

userspace: ## programs, in build/userspace
	$(if $(has-userspace),$(MAKE) -C userspace)

install: userspace ## install the programs (DESTDIR, prefix)
	$(if $(has-userspace),$(MAKE) -C userspace DESTDIR=$(DESTDIR) PREFIX=$(prefix) install)

clean: ## remove what was built
	rm -rf build
	$(if $(wildcard $(KDIR)),$(MAKE) -C $(KDIR) M=$(CURDIR) clean)

# ---- checks: each layer and its time limit stand in scripts/check -----------------------

check: ## every layer, on the kernels marked ci
	@scripts/check

check-all: ## every layer, on every kernel of tests/kernels.list
	@LATKIT_LONG=1 KERNELS="$$(scripts/kernels list | cut -d' ' -f1 | xargs)" scripts/check

check-host: ## arithmetic and parsers, on this machine, no root
	@scripts/check host

check-cli: ## the programs
	@scripts/check cli

check-vm: ## modules and lab, in virtual machines
	@scripts/check vm

check-lab: ## nanoseconds, in deterministic virtual machines
	@scripts/check lab

lint: ## static checks; every warning is an error
	@scripts/deps build lint
	@scripts/lint

bench-size: ## instructions of the hot path, bytes of each module
	@scripts/bench-size

demo: ## measure a device in a virtual machine and show it
	@scripts/demo

bench: ## latkit and its peers side by side, in virtual machines
	@scripts/bench

.PHONY: all help modules modules_install userspace install clean check check-all check-host \
	check-cli check-vm check-lab lint bench-size demo bench
