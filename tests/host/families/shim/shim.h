/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of the kernel's interface as the device families use, on a device that is memory: every
 * register write, every flush and every wait is taken down in order, so that a test can hold them
 * against a table. Registers read as they were last written, unless a test says otherwise.
 */
#ifndef FAMILIES_SHIM_H
#define FAMILIES_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;
typedef unsigned long kernel_ulong_t;

#define __iomem
#define __printf(a, b)		__attribute__((format(printf, a, b)))
#define BIT(n)			(1U << (n))
#define GENMASK(high, low)	((~0U >> (31 - (high))) & (~0U << (low)))
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define EIO			5

/* ---- PCI ---- */

#define PCI_VENDOR_ID_INTEL			0x8086
#define PCI_SUBVENDOR_ID_REDHAT_QUMRANET	0x1af4
#define PCI_SUBDEVICE_ID_QEMU			0x1100
#define PCI_COMMAND				0x04
#define PCI_COMMAND_INTX_DISABLE		0x400
#define PCI_STATUS				0x06
#define PCI_STATUS_INTERRUPT			0x08
#define PCI_POSSIBLE_ERROR(value)		((value) == ~(__typeof__(value))0)

struct pci_dev {
	u16 vendor, device, subsystem_vendor, subsystem_device;
};

struct pci_device_id {
	u32 vendor, device;
	kernel_ulong_t driver_data;
};

#define PCI_DEVICE(v, d) .vendor = (v), .device = (d)

/* ---- the device, and what was done to it ---- */

enum fake_kind {
	FAKE_END,
	FAKE_WRITE,	/* where, what */
	FAKE_READ,	/* where */
	FAKE_WAIT,	/* at least so many ms */
	FAKE_INTX,	/* 0 off, 1 on */
};

struct fake_event {
	enum fake_kind kind;
	u32 where;
	u32 what;
};

#define FAKE_EVENTS	512
#define FAKE_REGISTERS	0x20000

static struct {
	u8 registers[FAKE_REGISTERS];
	struct fake_event events[FAKE_EVENTS];
	unsigned int n;
	u16 command;
	bool intx;		/* the chip would assert its pin */
	u64 now_ns;
	/* What a write or a read does beside being taken down; NULL: nothing. */
	void (*written)(u32 where, u32 what);
	bool gone;		/* every read is all ones */
} fake;

static inline void fake_note(enum fake_kind kind, u32 where, u32 what)
{
	if (fake.n < FAKE_EVENTS)
		fake.events[fake.n++] = (struct fake_event){ kind, where, what };
}

static inline void writel(u32 value, void *reg)
{
	u32 where = (u8 *)reg - fake.registers;

	fake_note(FAKE_WRITE, where, value);
	memcpy(reg, &value, sizeof(value));
	if (fake.written)
		fake.written(where, value);
}

static inline u32 readl(const void *reg)
{
	u32 value;

	memcpy(&value, reg, sizeof(value));
	fake_note(FAKE_READ, (const u8 *)reg - fake.registers, 0);
	return fake.gone ? ~0U : value;
}

static inline int pci_read_config_word(struct pci_dev *pdev, int where, u16 *value)
{
	(void)pdev;
	*value = where == PCI_COMMAND ? fake.command : fake.intx ? PCI_STATUS_INTERRUPT : 0;
	return 0;
}

static inline void pci_intx(struct pci_dev *pdev, int on)
{
	(void)pdev;
	fake_note(FAKE_INTX, on, 0);
	fake.command = on ? 0 : PCI_COMMAND_INTX_DISABLE;
}

/* ---- time: it passes where somebody looks or waits ---- */

static inline u64 ktime_get_ns(void)
{
	return fake.now_ns += 100;
}

static inline u64 ktime_get_raw_ns(void)
{
	return ktime_get_ns();
}

static inline void msleep(unsigned int ms)
{
	fake.now_ns += ms * 1000000ULL;
	fake_note(FAKE_WAIT, ms, 0);
}

static inline void usleep_range(unsigned long low, unsigned long high)
{
	(void)high;
	fake.now_ns += low * 1000;
}

#endif /* FAMILIES_SHIM_H */
