// SPDX-License-Identifier: GPL-2.0-only
/* This module's own copy of the facts about PCI devices. */
#include "../pci/pci_facts.c"
