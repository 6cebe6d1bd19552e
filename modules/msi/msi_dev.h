/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A PCI device that can be made to send a message-signalled interrupt. One ops table per device
 * family; what the measured path needs of it (which word to write to raise, which to acknowledge)
 * is laid down as addresses and values, so that no indirect call lies on that path.
 */
#ifndef LAT_MSI_DEV_H
#define LAT_MSI_DEV_H

#include <linux/io.h>
#include <linux/pci.h>

#include "../core/params.h"

#define MSI_VECTORS_MAX	64

struct lat;
struct msi_dev;

/**
 * struct msi_doorbell - a register write of the measured path
 * @reg: where, NULL: nothing to write
 * @value: what
 */
struct msi_doorbell {
	void __iomem *reg;
	u32 value;
};

/* One posted write. Context: any. */
static __always_inline void msi_ring(const struct msi_doorbell *bell)
{
	writel(bell->value, bell->reg);
}

/**
 * struct msi_line - the device side of one vector
 * @raise: makes the device send this vector's message
 * @ack: tells the device that the message arrived
 * @rearm: lets the device send the next one, where that is a write of its own
 */
struct msi_line {
	struct msi_doorbell raise;
	struct msi_doorbell ack;
	struct msi_doorbell rearm;
};

/**
 * struct msi_family - a family of devices that are driven alike
 * @name: for people
 * @bar: BAR of the registers
 * @safe_reg: offset of a 32-bit register that is read without any effect
 * @prefer_msix: which kind ``vector=auto`` takes
 * @settle_ms: after masking, how long a moderated message may still be under way
 * @emulated: says whether this one is an emulation
 * @quiesce: mask every interrupt and stop whatever the device does by itself. Context: process,
 *	before any vector exists; may sleep. May fail.
 * @enable: let the device send @n vectors, moderation off, and fill in @lines. Context: process,
 *	vectors allocated, handlers installed. May fail; then nothing is enabled.
 * @disable: mask and flush: the device sends nothing more. Context: process. Cannot fail.
 */
struct msi_family {
	const char *name;
	int bar;
	u32 safe_reg;
	bool prefer_msix;
	unsigned int settle_ms;
	bool (*emulated)(const struct pci_dev *pdev);
	int (*quiesce)(struct msi_dev *dev);
	int (*enable)(struct msi_dev *dev, struct msi_line *lines, unsigned int n);
	void (*disable)(struct msi_dev *dev);
};

/**
 * struct msi_model - what one kind of silicon of a family has
 * @name: for people, as its data sheet calls it
 * @family: how it is driven
 * @layout: the family's, where models of it differ in where things are
 * @msi_vectors: MSI vectors it can be asked for
 * @msix_vectors: MSI-X vectors it can be asked for, 0: none
 * @refusal: why it cannot be used; NULL: it can, else all but @name and @family is void
 */
struct msi_model {
	const char *name;
	const struct msi_family *family;
	const void *layout;
	unsigned int msi_vectors;
	unsigned int msix_vectors;
	const char *refusal;
};

/**
 * enum msi_moderation - does the device hold messages back although it was told not to?
 * @MSI_MODERATION_UNKNOWN: nothing was found out; data sheets say no
 * @MSI_MODERATION_OFF: it was tried, it does not
 * @MSI_MODERATION_STUCK: it was tried, it does
 */
enum msi_moderation {
	MSI_MODERATION_UNKNOWN,
	MSI_MODERATION_OFF,
	MSI_MODERATION_STUCK,
};

/**
 * struct msi_dev - a device that is bound
 * @pdev: the device
 * @model: what it has
 * @family: how it is driven: the model's
 * @regs: its registers
 * @moderation: found by @quiesce of the family
 * @msix: the vectors are MSI-X
 * @vectors: allocated, 0: none
 */
struct msi_dev {
	struct pci_dev *pdev;
	const struct msi_model *model;
	const struct msi_family *family;
	u8 __iomem *regs;
	enum msi_moderation moderation;
	bool msix;
	unsigned int vectors;
};

/* A word to write at an offset. */
static inline struct msi_doorbell msi_doorbell(const struct msi_dev *dev, u32 offset, u32 value)
{
	return (struct msi_doorbell){ .reg = dev->regs + offset, .value = value };
}

static inline u32 msi_read(const struct msi_dev *dev, u32 offset)
{
	return readl(dev->regs + offset);
}

static inline void msi_write(const struct msi_dev *dev, u32 offset, u32 value)
{
	writel(value, dev->regs + offset);
}

/* Read without effect; what was posted before has arrived when it returns. Context: any. */
static inline u32 msi_read_safe(const struct msi_dev *dev)
{
	return msi_read(dev, dev->family->safe_reg);
}

/**
 * struct msi_binding - how a module gets and loses the one device it measures with
 * @lat: the instrument, whose session ends when the device goes
 * @row: number of its parameter that names the device
 * @bound: the device has become ours. Context: process, device_lock, lat->lock.
 * @unbound: it is being taken away, no session runs. Context: process, device_lock, lat->lock.
 */
struct msi_binding {
	struct lat *lat;
	unsigned int row;
	void (*bound)(struct msi_dev *dev);
	void (*unbound)(struct msi_dev *dev);
};

/**
 * msi_bind_init() - register the driver, and take the device if one is named
 * @binding: who asks
 * @why: the reason of a refusal
 *
 * Context: process, module init, no lock held.
 * Return: 0, -ENODEV (no such device, or no family for it), -EBUSY (bound elsewhere, or kept for
 *	another driver), -EINVAL (not an address), or what its probe said; then nothing is
 *	registered
 */
int msi_bind_init(const struct msi_binding *binding, struct lat_why *why);

/**
 * msi_bind_exit() - give the device back and unregister the driver
 *
 * Context: process, module exit, no lock held.
 */
void msi_bind_exit(void);

/**
 * msi_vectors_alloc() - allocate interrupt vectors
 * @dev: the device, without vectors
 * @n: how many
 * @kind: index of the choice of ``vector``: 0 auto, 1 msi, 2 msix
 * @why: the reason of a refusal
 *
 * Context: process.
 * Return: 0, or a negative errno with nothing allocated
 */
int msi_vectors_alloc(struct msi_dev *dev, unsigned int n, unsigned int kind, struct lat_why *why);

/* Free them, where there are any; the device must send nothing any more. Context: process. */
void msi_vectors_free(struct msi_dev *dev);

/* Is the device the one that its setting names now? Context: process, lat->lock. */
bool msi_is_wanted(const struct msi_dev *dev);

/* Would msi_vectors_alloc() be possible? The same, without a device access. */
int msi_vectors_check(const struct msi_dev *dev, unsigned int n, unsigned int kind,
		      struct lat_why *why);

/**
 * msi_describe_route() - facts and notes about the way from the device to the CPU
 * @lat: the instrument
 * @dev: the device
 *
 * Power state, PCIe link and its power saving, moderation and, while vectors are allocated, the
 * interrupt controllers on the way.
 *
 * Context: process, lat->lock.
 */
void msi_describe_route(struct lat *lat, const struct msi_dev *dev);

#endif /* LAT_MSI_DEV_H */
