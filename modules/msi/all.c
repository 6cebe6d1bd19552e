// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device families and the binding in one piece; compiled once into each module that needs them,
 * like the core.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "../pci/pci_facts.c"
#include "msi_dev_edu.c"
#include "msi_dev_e1000e.c"
#include "msi_dev_igb.c"
#include "msi_dev_igc.c"
#include "msi_dev.c"
#include "msi_facts.c"
