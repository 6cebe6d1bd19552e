// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel 82574 and its relatives that Linux drives by e1000e. They send one MSI when an unmasked
 * cause becomes set, and causes can be set by a register write. The 82574 alone has MSI-X: a vector
 * each for four queue causes, which are maskable apart and can be set by the same write.
 *
 * MSI is the default also there, because QEMU's 82574 sends a second message 128 us after every
 * MSI-X message (10.0 always, 7.2 once one was postponed); those are counted as spurious.
 *
 * Sources: 82574 data sheet chapters 7.4 and 10.2.4; Linux drivers/net/ethernet/intel/e1000e
 * (regs.h, defines.h, 82571.h, netdev.c); for the emulation QEMU hw/net/e1000e_core.c of 7.2 and
 * 10.0.
 */
#include <linux/delay.h>

#include "../core/clock.h"
#include "msi_dev_intel.h"

#define E1000E_CTRL_EXT	0x00018	/* extended control */
#define E1000E_EIAME		0x01000000	/* 82574: a message masks what IAM says */
#define E1000E_IAME		0x08000000	/* an access of ICR does; netdev.c leaves it set */
#define E1000E_PBA_CLR		0x80000000	/* 82574: messages clear the pending bit array */

#define E1000E_ITR		0x000c4	/* moderation, 256 ns each, 0: off */
#define E1000E_EIAC		0x000dc	/* 82574: causes that their message clears; 82571.h */
#define E1000E_IVAR		0x000e4	/* 82574: four bits a cause, 8 | vector */
#define E1000E_EITR(n)		(0x000e8 + 4 * (n))	/* 82574: ITR of a vector; 82571.h */

/* 82574: RXQ0, RXQ1, TXQ0, TXQ1 are bits 20 to 23 of ICR, ICS, IMS; defines.h. */
#define E1000E_QUEUE_CAUSE(n)	BIT(20 + (n))
/* The fifth, OTHER, is left alone: whatever happens to the link would set it too. */
#define E1000E_QUEUES		4

/* ITR has 16 bits of 256 ns: a message may be under way 16.8 ms after everything is masked. */
#define E1000E_SETTLE_MS	20

/* QEMU does not go below this, whatever is written; the data sheet recommends no less. */
#define E1000E_THROTTLE_NS	(500 * 256)
/* One look at the moderation: shorter than the above, longer than any chip takes. */
#define E1000E_LOOK_NS		20000
#define E1000E_LOOKS		8

static bool e1000e_has_msix(const struct msi_dev *dev)
{
	return dev->model->msix_vectors;
}

static void e1000e_mask(struct msi_dev *dev)
{
	intel_mask(dev);
	if (e1000e_has_msix(dev))
		msi_write(dev, E1000E_EIAC, 0);
}

/* Set the cause, and see for a while whether the chip asks for an interrupt. */
static bool e1000e_asks(struct msi_dev *dev)
{
	u64 until_ns = lat_now() + E1000E_LOOK_NS;
	u16 status;

	msi_write(dev, intel_causes_classic.ics, INTEL_CAUSE);
	intel_flush(dev);
	do {
		pci_read_config_word(dev->pdev, PCI_STATUS, &status);
	} while (!(status & PCI_STATUS_INTERRUPT) && lat_now() < until_ns);
	msi_write(dev, intel_causes_classic.icr, INTEL_CAUSE);
	return status & PCI_STATUS_INTERRUPT;
}

/* Two causes in a row. Only the second may be held back, and only if it came soon enough. */
static enum msi_moderation e1000e_look(struct msi_dev *dev)
{
	u64 start_ns = lat_now();

	if (!e1000e_asks(dev))
		return MSI_MODERATION_UNKNOWN;
	if (!e1000e_asks(dev))
		return MSI_MODERATION_STUCK;
	return lat_now() - start_ns < E1000E_THROTTLE_NS ? MSI_MODERATION_OFF :
	       MSI_MODERATION_UNKNOWN;
}

/*
 * Can moderation be switched off? ITR reads back as written even where it is ignored, so it is
 * tried, by the interrupt pin: the chip says in its PCI status that it would assert it, while the
 * PCI command keeps it from doing so, and no message exists yet.
 */
static void e1000e_find_moderation(struct msi_dev *dev)
{
	unsigned int looks;
	u16 command;

	pci_read_config_word(dev->pdev, PCI_COMMAND, &command);
	pci_intx(dev->pdev, 0);
	intel_unmask(dev);
	for (looks = 0; looks < E1000E_LOOKS && !dev->moderation; looks++) {
		dev->moderation = e1000e_look(dev);
		usleep_range(500, 600);
	}
	e1000e_mask(dev);
	msi_write(dev, intel_causes_classic.icr, ~0);
	intel_flush(dev);
	if (!(command & PCI_COMMAND_INTX_DISABLE))
		pci_intx(dev->pdev, 1);
}

static int e1000e_quiesce(struct msi_dev *dev)
{
	int err;

	e1000e_mask(dev);
	err = intel_stop_packets(dev);
	if (err)
		return err;
	msi_write(dev, E1000E_CTRL_EXT, msi_read(dev, E1000E_CTRL_EXT) &
		  ~(E1000E_IAME | E1000E_EIAME | E1000E_PBA_CLR));
	msi_write(dev, E1000E_ITR, 0);
	msi_write(dev, intel_causes_classic.icr, ~0);
	intel_flush(dev);
	/* An earlier driver's interval. */
	msleep(E1000E_SETTLE_MS);
	e1000e_find_moderation(dev);
	/* And that of the looks: the vectors come next. */
	msleep(E1000E_SETTLE_MS);
	return 0;
}

static void e1000e_enable_msi(struct msi_dev *dev, struct msi_line *line)
{
	msi_write(dev, E1000E_CTRL_EXT, msi_read(dev, E1000E_CTRL_EXT) &
		  ~(E1000E_IAME | E1000E_EIAME | E1000E_PBA_CLR));
	msi_write(dev, E1000E_ITR, 0);
	intel_unmask(dev);
	*line = intel_line(dev);
}

/* Queue cause n goes to vector n. The message clears its cause, and in the emulation its mask. */
static void e1000e_enable_msix(struct msi_dev *dev, struct msi_line *lines, unsigned int n)
{
	u32 ivar = 0, causes = 0;
	unsigned int i;

	/* As e1000_configure_msix() has it; IAM = 0 keeps messages from masking anything else. */
	msi_write(dev, E1000E_CTRL_EXT, (msi_read(dev, E1000E_CTRL_EXT) & ~E1000E_IAME) |
		  E1000E_EIAME | E1000E_PBA_CLR);
	for (i = 0; i < n; i++) {
		u32 cause = E1000E_QUEUE_CAUSE(i);

		msi_write(dev, E1000E_EITR(i), 0);
		ivar |= (0x8 | i) << (4 * i);
		causes |= cause;
		lines[i] = (struct msi_line){
			.raise = msi_doorbell(dev, intel_causes_classic.ics, cause),
			.rearm = msi_doorbell(dev, intel_causes_classic.ims, cause),
		};
	}
	msi_write(dev, E1000E_IVAR, ivar);
	msi_write(dev, E1000E_EIAC, causes);
	msi_write(dev, intel_causes_classic.icr, ~0);
	msi_write(dev, intel_causes_classic.ims, causes);
	intel_flush(dev);
}

static int e1000e_enable(struct msi_dev *dev, struct msi_line *lines, unsigned int n)
{
	if (dev->msix)
		e1000e_enable_msix(dev, lines, n);
	else
		e1000e_enable_msi(dev, lines);
	return 0;
}

static void e1000e_disable(struct msi_dev *dev)
{
	e1000e_mask(dev);
	intel_flush(dev);
}

/* Boards name themselves as subsystem; QEMU's (hw/net/e1000e.c) says Intel and no board. */
static bool e1000e_emulated(const struct pci_dev *pdev)
{
	return pdev->subsystem_vendor == PCI_VENDOR_ID_INTEL && !pdev->subsystem_device;
}

static const struct msi_family msi_family_e1000e = {
	.name = "e1000e",
	.bar = 0,
	.safe_reg = INTEL_STATUS,
	.settle_ms = E1000E_SETTLE_MS,
	.emulated = e1000e_emulated,
	.quiesce = e1000e_quiesce,
	.enable = e1000e_enable,
	.disable = e1000e_disable,
};

#define E1000E_MODEL(text, msix)		\
	{					\
		.name = text,			\
		.family = &msi_family_e1000e,	\
		.layout = &intel_causes_classic,	\
		.msi_vectors = 1,		\
		.msix_vectors = msix,		\
	}

#define E1000E_REFUSED(text)			\
	{					\
		.name = text,			\
		.family = &msi_family_e1000e,	\
		.refusal = "its interrupts have not been checked against a data sheet here",	\
	}

/* Which have MSI-X: FLAG_HAS_MSIX in 82571.c and ich8lan.c. */
static const struct msi_model msi_model_82574 = E1000E_MODEL("82574", E1000E_QUEUES);
static const struct msi_model msi_model_82583 = E1000E_MODEL("82583", 0);
static const struct msi_model msi_model_i217 = E1000E_MODEL("I217", 0);
static const struct msi_model msi_model_i218 = E1000E_MODEL("I218", 0);
static const struct msi_model msi_model_i219 = E1000E_MODEL("I219", 0);
static const struct msi_model msi_model_82571 = E1000E_REFUSED("82571, 82572 or 82573");
static const struct msi_model msi_model_80003es2 = E1000E_REFUSED("80003ES2");
static const struct msi_model msi_model_ich8 = E1000E_REFUSED("ICH8, ICH9 or ICH10 port");
static const struct msi_model msi_model_82577 = E1000E_REFUSED("82577, 82578 or 82579");
