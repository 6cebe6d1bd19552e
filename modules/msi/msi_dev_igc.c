// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel I225 and I226 and their relatives I220 and I221, which Linux drives by igc. Their
 * interrupts are igb's, but the block of causes has moved.
 *
 * Sources: Linux drivers/net/ethernet/intel/igc (igc_regs.h, igc_defines.h, igc_main.c,
 * igc_base.c). No emulation has them.
 */
#include "msi_dev_intel.h"

/* igc_regs.h */
static const struct intel_causes igc_causes = {
	.icr = 0x01500,
	.ics = 0x01504,
	.ims = 0x01508,
	.imc = 0x0150c,
	.iam = 0x01510,
};

static bool igc_emulated(const struct pci_dev *pdev)
{
	return false;
}

static const struct msi_family msi_family_igc = {
	.name = "igc",
	.bar = 0,
	.safe_reg = INTEL_STATUS,
	.prefer_msix = true,
	.settle_ms = IGB_SETTLE_MS,
	.emulated = igc_emulated,
	.quiesce = igb_quiesce,
	.enable = igb_enable,
	.disable = igb_disable,
};

#define IGC_MODEL(text)				\
	{					\
		.name = text,			\
		.family = &msi_family_igc,	\
		.layout = &igc_causes,		\
		.msi_vectors = 1,		\
		.msix_vectors = 5,		\
	}

static const struct msi_model msi_model_i225 = IGC_MODEL("I225");
static const struct msi_model msi_model_i226 = IGC_MODEL("I226");
static const struct msi_model msi_model_i220 = IGC_MODEL("I220");
static const struct msi_model msi_model_i221 = IGC_MODEL("I221");
