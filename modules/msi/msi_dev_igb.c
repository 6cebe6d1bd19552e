// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel 82576, 82580, I350, I354, I210 and I211, which Linux drives by igb. Beside the block of
 * causes they have an extended block, in MSI-X mode with one bit for each vector: writing a bit to
 * EICS sends that vector's message, whatever its causes are, and EIAC lets the message clear the
 * bit again. So a vector needs neither acknowledging nor a cause, and each measured CPU can have
 * one.
 *
 * Sources: I210 data sheet 7.3 (interrupts) and 8.8 (registers); Linux
 * drivers/net/ethernet/intel/igb (e1000_regs.h, e1000_defines.h, igb_main.c); for the emulation
 * QEMU hw/net/igb_core.c of 10.0.
 */
#include <linux/delay.h>

#include "msi_dev_intel.h"

#define IGB_GPIE	0x01514	/* general purpose interrupt enable; I210 8.8.17 */
#define IGB_GPIE_NSICR		0x00000001	/* an access of ICR clears it without conditions */
#define IGB_GPIE_MSIX_MODE	0x00000010	/* one bit of the extended block for each vector */
#define IGB_GPIE_EIAME		0x40000000	/* a message masks what EIAM says */
#define IGB_GPIE_PBA		0x80000000	/* messages clear the pending bit array */

#define IGB_EICS	0x01520	/* WO: set bits of EICR; I210 8.8.4 */
#define IGB_EIMS	0x01524	/* mask set; I210 8.8.5 */
#define IGB_EIMC	0x01528	/* WO: mask clear; I210 8.8.6 */
#define IGB_EIAC	0x0152c	/* bits that their message clears; I210 8.8.7 */
#define IGB_EIAM	0x01530	/* bits that their message masks; I210 8.8.8 */
#define IGB_EITR(n)	(0x01680 + 4 * (n))	/* moderation of a vector, 0: off; I210 8.8.14 */
#define IGB_IVAR_MISC	0x01740	/* vectors of TCP timer and other causes; I210 8.8.16 */

/* Without MSI-X mode: some unmasked bit of ICR is set; I210 8.8.3 and table 7-53. */
#define IGB_EICR_OTHER	BIT(31)

/* EITR goes to 8.2 ms, and QEMU 10 counts it four times as slowly. */
#define IGB_SETTLE_MS	34

/*
 * EIMC means other bits in MSI-X mode than without it, so both blocks are masked before the mode
 * changes. QEMU's EIAC and EIAM only ever gain bits; it makes no use of EIAM.
 */
static void igb_mask(struct msi_dev *dev)
{
	intel_mask(dev);
	msi_write(dev, IGB_EIMC, ~0);
	msi_write(dev, IGB_EIAC, 0);
	msi_write(dev, IGB_EIAM, 0);
}

static int igb_quiesce(struct msi_dev *dev)
{
	const struct intel_causes *causes = dev->model->layout;
	int err;

	igb_mask(dev);
	err = intel_stop_packets(dev);
	if (err)
		return err;
	msi_write(dev, causes->icr, ~0);
	intel_flush(dev);
	/* An earlier driver's interval. */
	msleep(IGB_SETTLE_MS);
	return 0;
}

/*
 * One MSI, by the block of causes: QEMU sends none for EICS here. The extended block must let
 * "other" through: its bit is set after a reset, and both this module's masking and a driver that
 * ran MSI-X have cleared it.
 */
static void igb_enable_msi(struct msi_dev *dev, struct msi_line *line)
{
	msi_write(dev, IGB_GPIE, IGB_GPIE_NSICR);
	msi_write(dev, IGB_EITR(0), 0);
	msi_write(dev, IGB_EIMS, IGB_EICR_OTHER);
	intel_unmask(dev);
	*line = intel_line(dev);
}

/* GPIE comes first: in the other mode what follows means something else, or does not stick. */
static void igb_enable_msix(struct msi_dev *dev, struct msi_line *lines, unsigned int n)
{
	u32 vectors = GENMASK(n - 1, 0);
	unsigned int i;

	msi_write(dev, IGB_GPIE, IGB_GPIE_MSIX_MODE | IGB_GPIE_PBA | IGB_GPIE_EIAME |
		  IGB_GPIE_NSICR);
	msi_write(dev, IGB_EIMC, ~0);
	/* No other cause has a vector. */
	msi_write(dev, IGB_IVAR_MISC, 0);
	for (i = 0; i < n; i++) {
		msi_write(dev, IGB_EITR(i), 0);
		lines[i] = (struct msi_line){
			.raise = msi_doorbell(dev, IGB_EICS, BIT(i)),
		};
	}
	msi_write(dev, IGB_EIAC, vectors);
	msi_write(dev, IGB_EIAM, 0);
	msi_write(dev, IGB_EIMS, vectors);
	intel_flush(dev);
}

static int igb_enable(struct msi_dev *dev, struct msi_line *lines, unsigned int n)
{
	if (dev->msix)
		igb_enable_msix(dev, lines, n);
	else
		igb_enable_msi(dev, lines);
	return 0;
}

static void igb_disable(struct msi_dev *dev)
{
	igb_mask(dev);
	intel_flush(dev);
}

/* QEMU's hw/net/igb.c leaves the subsystem at QEMU's own 1af4:1100. */
static bool igb_emulated(const struct pci_dev *pdev)
{
	return pdev->subsystem_vendor == PCI_SUBVENDOR_ID_REDHAT_QUMRANET &&
	       pdev->subsystem_device == PCI_SUBDEVICE_ID_QEMU;
}

static const struct msi_family msi_family_igb = {
	.name = "igb",
	.bar = 0,
	.safe_reg = INTEL_STATUS,
	.prefer_msix = true,
	.settle_ms = IGB_SETTLE_MS,
	.emulated = igb_emulated,
	.quiesce = igb_quiesce,
	.enable = igb_enable,
	.disable = igb_disable,
};

#define IGB_MODEL(text, msix)			\
	{					\
		.name = text,			\
		.family = &msi_family_igb,	\
		.layout = &intel_causes_classic,	\
		.msi_vectors = 1,		\
		.msix_vectors = msix,		\
	}

/* Vectors: what the width of EICS, EIMS and EIAC carries. */
static const struct msi_model msi_model_82576 = IGB_MODEL("82576", 25);
static const struct msi_model msi_model_82580 = IGB_MODEL("82580", 10);
static const struct msi_model msi_model_i350 = IGB_MODEL("I350", 10);
static const struct msi_model msi_model_i354 = IGB_MODEL("I354", 10);
static const struct msi_model msi_model_i210 = IGB_MODEL("I210", 5);
static const struct msi_model msi_model_i211 = IGB_MODEL("I211", 5);
static const struct msi_model msi_model_82575 = {
	.name = "82575",
	.family = &msi_family_igb,
	.refusal = "it maps vectors and moderates them in ways of its own",
};
