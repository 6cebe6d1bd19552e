/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What Intel's gigabit Ethernet controllers have in common, as far as this toolkit touches it: one
 * block of cause registers, at an offset that depends on the family, and the two switches that stop
 * packets. Offsets and bits: the families' data sheets (82574 chapter 10, I210 chapter 8) and, for
 * their names, Linux drivers/net/ethernet/intel/{e1000e,igb}: regs.h, e1000_regs.h, defines.h.
 */
#ifndef LAT_MSI_DEV_INTEL_H
#define LAT_MSI_DEV_INTEL_H

#include "msi_dev.h"

#define INTEL_STATUS	0x00008	/* RO, reading it has no effect */
#define INTEL_RCTL	0x00100	/* receive control; bit 1 enables */
#define INTEL_TCTL	0x00400	/* transmit control; bit 1 enables */

/*
 * The cause this module sets by itself: receive descriptors running low. Every family and every
 * emulation takes it in mask and cause set; RXSEQ (0x8) of the kernel's own self-test is not
 * maskable in QEMU 7.2. Nothing else sets it while reception is off.
 */
#define INTEL_CAUSE	0x10

/**
 * struct intel_causes - where a family has its block of cause registers
 * @icr: cause, read or write 1 to clear
 * @ics: cause set, WO
 * @ims: mask set
 * @imc: mask clear, WO
 * @iam: what an access of @icr masks by itself
 */
struct intel_causes {
	u32 icr;
	u32 ics;
	u32 ims;
	u32 imc;
	u32 iam;
};

/* e1000e/regs.h, igb/e1000_regs.h: the place it has had since the 8254x. */
static const struct intel_causes intel_causes_classic = {
	.icr = 0x000c0,
	.ics = 0x000c8,
	.ims = 0x000d0,
	.imc = 0x000d8,
	.iam = 0x000e0,
};

/* Make what was written arrive. */
static void intel_flush(struct msi_dev *dev)
{
	msi_read(dev, INTEL_STATUS);
}

/* Mask every cause, and let no access of ICR change that. */
static void intel_mask(struct msi_dev *dev)
{
	const struct intel_causes *causes = dev->model->layout;

	msi_write(dev, causes->imc, ~0);
	msi_write(dev, causes->iam, 0);
}

/*
 * Stop packets without a reset: what a reset leaves behind differs between families and emulations,
 * and the management engine shares the chip. All ones means that nobody answers.
 */
static int intel_stop_packets(struct msi_dev *dev)
{
	msi_write(dev, INTEL_RCTL, 0);
	msi_write(dev, INTEL_TCTL, 0);
	return PCI_POSSIBLE_ERROR(msi_read(dev, INTEL_STATUS)) ? -EIO : 0;
}

/* The line of a message that the block of causes sends. */
static struct msi_line intel_line(const struct msi_dev *dev)
{
	const struct intel_causes *causes = dev->model->layout;

	return (struct msi_line){
		.raise = msi_doorbell(dev, causes->ics, INTEL_CAUSE),
		/* Write 1 to clear: posted, where reading it would cost a round trip. */
		.ack = msi_doorbell(dev, causes->icr, INTEL_CAUSE),
	};
}

/* Forget what is pending, then let the one cause through. */
static void intel_unmask(struct msi_dev *dev)
{
	const struct intel_causes *causes = dev->model->layout;

	msi_write(dev, causes->icr, ~0);
	msi_write(dev, causes->ims, INTEL_CAUSE);
	intel_flush(dev);
}

#endif /* LAT_MSI_DEV_INTEL_H */
