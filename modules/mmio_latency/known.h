/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known about reading registers of some devices: a word that is read without effect, words
 * that change the device when read, and how wide a read may be. A device that is not here can be
 * read too, but its user must name the offset.
 */
#ifndef LAT_MMIO_KNOWN_H
#define LAT_MMIO_KNOWN_H

#include <linux/pci.h>

/**
 * struct mmio_range - words with a side effect
 * @first: offset of the first byte
 * @last: offset of the last byte
 * @effect: what reading does, for people
 */
struct mmio_range {
	u64 first;
	u64 last;
	const char *effect;
};

/**
 * struct mmio_known - a kind of device
 * @name: for people
 * @bar: BAR that the offsets are in
 * @safe: offset of a word that is read without effect
 * @width: widest read, bits
 * @flush: offset of a register that takes a write of 0 without effect
 * @can_flush: there is one
 * @effects: words with a side effect, ends with a NULL effect
 */
struct mmio_known {
	const char *name;
	int bar;
	u64 safe;
	unsigned int width;
	u32 flush;
	bool can_flush;
	const struct mmio_range *effects;
};

static const struct mmio_range mmio_no_effects[] = { { } };

/* QEMU docs/specs/edu.rst: identification at 0, liveness check at 4 keeps what is written */
static const struct mmio_known mmio_edu = {
	.name = "edu", .safe = 0x0, .width = 32, .flush = 0x4, .can_flush = true,
	.effects = mmio_no_effects,
};

/* By name: Linux drivers/net/ethernet/intel/{e1000e/regs.h,igb/e1000_regs.h,igc/igc_regs.h} */
static const struct mmio_range mmio_gbe_effects[] = {
	{ 0x00c0, 0x00c3, "ICR: reading clears it" },
	{ 0x1500, 0x1503, "ICR: reading clears it" },
	{ 0x1580, 0x1583, "EICR: reading clears it" },
	{ 0x4000, 0x41ff, "statistics: reading clears them" },
	{ 0x5b50, 0x5b53, "SWSM: reading takes a semaphore" },
	{ 0xb600, 0xb607, "SYSTIM: reading latches it" },
	{ 0xb61c, 0xb61f, "TXSTMPH: reading frees the stamp" },
	{ 0xb628, 0xb62b, "RXSTMPH: reading frees the stamp" },
	{ 0xb660, 0xb663, "AUXSTMPH0: reading frees the stamp" },
	{ 0xb668, 0xb66b, "AUXSTMPH1: reading frees the stamp" },
	{ 0xb66c, 0xb66f, "TSICR: reading clears it" },
	{ 0xb6f8, 0xb6fb, "SYSTIMR: reading latches the clock" },
	{ }
};

/* STATUS at 8 is read-only; a 0 written to IMC (0xd8; igc: 0x150c) masks nothing */
static const struct mmio_known mmio_gbe = {
	.name = "Intel Gigabit Ethernet", .safe = 0x8, .width = 32, .flush = 0xd8,
	.can_flush = true, .effects = mmio_gbe_effects,
};

static const struct mmio_known mmio_igc = {
	.name = "Intel 2.5 Gigabit Ethernet", .safe = 0x8, .width = 32, .flush = 0x150c,
	.can_flush = true, .effects = mmio_gbe_effects,
};

/* NVM Express Base Specification, 3.1: CAP at 0, VS at 8; doorbells from 0x1000 */
static const struct mmio_range mmio_nvme_effects[] = {
	{ 0x1000, ~0ULL, "doorbells: not to be read" },
	{ }
};

static const struct mmio_known mmio_nvme = {
	.name = "NVMe", .safe = 0x8, .width = 64, .effects = mmio_nvme_effects,
};

/* xHCI 1.2, 5.3: CAPLENGTH and HCIVERSION at 0 are read-only */
static const struct mmio_known mmio_xhci = {
	.name = "xHCI", .safe = 0x0, .width = 64, .effects = mmio_no_effects,
};

/* AHCI 1.3.1, 2.1.11 and 3.1.1: registers in BAR 5, CAP at 0 is read-only */
static const struct mmio_known mmio_ahci = {
	.name = "AHCI", .bar = 5, .safe = 0x0, .width = 32, .effects = mmio_no_effects,
};

/* QEMU docs/specs/ivshmem-spec.rst: interrupt status at 4 is cleared by reading, IVPosition at 8 */
static const struct mmio_range mmio_ivshmem_effects[] = {
	{ 0x4, 0x7, "interrupt status: reading clears it" },
	{ }
};

static const struct mmio_known mmio_ivshmem = {
	.name = "ivshmem", .safe = 0x8, .width = 32, .effects = mmio_ivshmem_effects,
};

/* QEMU docs/specs/pci-testdev.rst: the first byte of BAR 0 is the number of the test */
static const struct mmio_known mmio_testdev = {
	.name = "pci-testdev", .safe = 0x0, .width = 32, .effects = mmio_no_effects,
};

/* What each model of msi/msi_ids.def is here. */
#define mmio_of_msi_model_edu		mmio_edu
#define mmio_of_msi_model_82571		mmio_gbe
#define mmio_of_msi_model_82574		mmio_gbe
#define mmio_of_msi_model_82575		mmio_gbe
#define mmio_of_msi_model_82576		mmio_gbe
#define mmio_of_msi_model_82577		mmio_gbe
#define mmio_of_msi_model_82580		mmio_gbe
#define mmio_of_msi_model_82583		mmio_gbe
#define mmio_of_msi_model_80003es2	mmio_gbe
#define mmio_of_msi_model_ich8		mmio_gbe
#define mmio_of_msi_model_i210		mmio_gbe
#define mmio_of_msi_model_i211		mmio_gbe
#define mmio_of_msi_model_i217		mmio_gbe
#define mmio_of_msi_model_i218		mmio_gbe
#define mmio_of_msi_model_i219		mmio_gbe
#define mmio_of_msi_model_i350		mmio_gbe
#define mmio_of_msi_model_i354		mmio_gbe
#define mmio_of_msi_model_i220		mmio_igc
#define mmio_of_msi_model_i221		mmio_igc
#define mmio_of_msi_model_i225		mmio_igc
#define mmio_of_msi_model_i226		mmio_igc

#define MMIO_ID(vendor, device, known) \
	{ PCI_DEVICE(vendor, device), .driver_data = (kernel_ulong_t)&(known) }
#define MSI_ID(vendor, device, model) MMIO_ID(vendor, device, mmio_of_##model),
#define MMIO_CLASS(class, known) \
	{ PCI_DEVICE_CLASS(class, ~0), .driver_data = (kernel_ulong_t)&(known) }

static const struct pci_device_id mmio_ids[] = {
#include "../msi/msi_ids.def"
	MMIO_ID(0x1af4, 0x1110, mmio_ivshmem),
	MMIO_ID(0x1b36, 0x0005, mmio_testdev),
	MMIO_CLASS(PCI_CLASS_STORAGE_EXPRESS, mmio_nvme),
	MMIO_CLASS(PCI_CLASS_SERIAL_USB_XHCI, mmio_xhci),
	MMIO_CLASS(PCI_CLASS_STORAGE_SATA_AHCI, mmio_ahci),
	{ }
};

#endif /* LAT_MMIO_KNOWN_H */
