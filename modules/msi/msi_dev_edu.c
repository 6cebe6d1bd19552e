// SPDX-License-Identifier: GPL-2.0-only
/*
 * QEMU's teaching device, 1234:11e8: one MSI for every write to its raise register, at once and
 * without moderation, which makes it the plainest stimulus there is. Register facts: QEMU
 * docs/specs/edu.rst and hw/misc/edu.c (7.2, 10.0).
 */
#include "msi_dev.h"

#define EDU_ID		0x00	/* RO: 0x010000ed */
#define EDU_STATUS	0x20	/* bit 7: interrupt when a factorial is done */
#define EDU_PENDING	0x24	/* RO: bits raised and not acknowledged */
#define EDU_RAISE	0x60	/* WO: sets bits of PENDING and sends a message */
#define EDU_ACK		0x64	/* WO: clears bits of PENDING; needed only for its bookkeeping */

#define EDU_BIT		0x1	/* the bit this module raises; any would do */

static int edu_quiesce(struct msi_dev *dev)
{
	msi_write(dev, EDU_STATUS, 0);
	msi_write(dev, EDU_ACK, msi_read(dev, EDU_PENDING));
	return 0;
}

static int edu_enable(struct msi_dev *dev, struct msi_line *lines, unsigned int n)
{
	lines[0] = (struct msi_line){
		.raise = msi_doorbell(dev, EDU_RAISE, EDU_BIT),
		.ack = msi_doorbell(dev, EDU_ACK, EDU_BIT),
	};
	return 0;
}

static void edu_disable(struct msi_dev *dev)
{
	/* There is no mask: it sends only what it is told to. A read flushes what was told. */
	edu_quiesce(dev);
	msi_read_safe(dev);
}

static bool edu_emulated(const struct pci_dev *pdev)
{
	return true;
}

static const struct msi_family msi_family_edu = {
	.name = "edu",
	.bar = 0,
	.safe_reg = EDU_ID,
	.emulated = edu_emulated,
	.quiesce = edu_quiesce,
	.enable = edu_enable,
	.disable = edu_disable,
};

static const struct msi_model msi_model_edu = {
	.name = "edu",
	.family = &msi_family_edu,
	.msi_vectors = 1,
};
