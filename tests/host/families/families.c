// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves what each device family writes, in which order, against tables that were written down from
 * data sheets and drivers by number, not by the families' own names: for most of these chips there
 * is neither silicon nor an emulation at hand. The families are compiled as they are, on registers
 * that are memory.
 */
#include "shim/shim.h"

#include "../../../modules/msi/msi_dev_edu.c"
#include "../../../modules/msi/msi_dev_e1000e.c"
#include "../../../modules/msi/msi_dev_igb.c"
#include "../../../modules/msi/msi_dev_igc.c"
#include "../../lib/tap.h"

#define LINES_MAX	8

#define W(where, what)	{ FAKE_WRITE, where, what }
#define R(where)	{ FAKE_READ, where, 0 }
#define WAIT(ms)	{ FAKE_WAIT, ms, 0 }
#define INTX(on)	{ FAKE_INTX, on, 0 }

#define ALL	0xffffffff

/* What must happen, each list ending with a FAKE_END. A bell that is not rung has no list. */
struct expected {
	const struct msi_model *model;
	const char *name;
	bool msix;
	unsigned int vectors;
	u32 ctrl_ext;			/* as an earlier driver left it */
	struct fake_event quiesce[40];
	struct fake_event enable[20];
	struct fake_event raise[LINES_MAX][2];
	struct fake_event ack[LINES_MAX][2];
	struct fake_event rearm[LINES_MAX][2];
	struct fake_event disable[10];
};

/* Mask and stop; the parts that several tables share. */
#define E1000E_MASK		W(0xd8, ALL), W(0xe0, 0)
#define E1000E_MASK_82574	E1000E_MASK, W(0xdc, 0)
/* Two causes in a row while the pin is held: what the look at the moderation does. */
#define E1000E_LOOK		INTX(0), W(0xc0, ALL), W(0xd0, 0x10), R(0x08), \
				W(0xc8, 0x10), R(0x08), W(0xc0, 0x10), \
				W(0xc8, 0x10), R(0x08), W(0xc0, 0x10)
#define E1000E_QUIESCE(mask, ctrl_ext) \
	mask, W(0x100, 0), W(0x400, 0), R(0x08), R(0x18), W(0x18, ctrl_ext), W(0xc4, 0), \
	W(0xc0, ALL), R(0x08), WAIT(20), E1000E_LOOK, mask, W(0xc0, ALL), R(0x08), INTX(1), WAIT(20)
#define E1000E_MSI(ctrl_ext) \
	R(0x18), W(0x18, ctrl_ext), W(0xc4, 0), W(0xc0, ALL), W(0xd0, 0x10), R(0x08)
#define E1000E_MSI_ONLY(name_, model_) { \
	.model = &(model_), .name = name_, .vectors = 1, .ctrl_ext = 0x18580000, \
	.quiesce = { E1000E_QUIESCE(E1000E_MASK, 0x10580000) }, \
	.enable = { E1000E_MSI(0x10580000) }, \
	.raise = { { W(0xc8, 0x10) } }, \
	.ack = { { W(0xc0, 0x10) } }, \
	.disable = { E1000E_MASK, R(0x08) }, \
}

#define IGB_MASK(imc, iam)	W(imc, ALL), W(iam, 0), W(0x1528, ALL), W(0x152c, 0), W(0x1530, 0)
#define IGB_QUIESCE(icr, imc, iam) \
	IGB_MASK(imc, iam), W(0x100, 0), W(0x400, 0), R(0x08), W(icr, ALL), R(0x08), WAIT(34)
#define IGB_MSIX_3 \
	W(0x1514, 0xc0000011), W(0x1528, ALL), W(0x1740, 0), \
	W(0x1680, 0), W(0x1684, 0), W(0x1688, 0), \
	W(0x152c, 0x7), W(0x1530, 0), W(0x1524, 0x7), R(0x08)
#define IGB_MSI(icr, ims) \
	W(0x1514, 0x1), W(0x1680, 0), W(0x1524, 0x80000000), W(icr, ALL), W(ims, 0x10), R(0x08)
#define IGB_TABLES(name_, model_, icr, ics, ims, imc, iam) { \
	.model = &(model_), .name = name_ ", MSI", .vectors = 1, \
	.quiesce = { IGB_QUIESCE(icr, imc, iam) }, \
	.enable = { IGB_MSI(icr, ims) }, \
	.raise = { { W(ics, 0x10) } }, \
	.ack = { { W(icr, 0x10) } }, \
	.disable = { IGB_MASK(imc, iam), R(0x08) }, \
}, { \
	.model = &(model_), .name = name_ ", 3 MSI-X", .msix = true, .vectors = 3, \
	.quiesce = { IGB_QUIESCE(icr, imc, iam) }, \
	.enable = { IGB_MSIX_3 }, \
	.raise = { { W(0x1520, 0x1) }, { W(0x1520, 0x2) }, { W(0x1520, 0x4) } }, \
	.disable = { IGB_MASK(imc, iam), R(0x08) }, \
}
#define IGB(name_, model_)	IGB_TABLES(name_, model_, 0xc0, 0xc8, 0xd0, 0xd8, 0xe0)
#define IGC(name_, model_)	IGB_TABLES(name_, model_, 0x1500, 0x1504, 0x1508, 0x150c, 0x1510)

static const struct expected tables[] = {
	{
		.model = &msi_model_edu, .name = "edu", .vectors = 1,
		.quiesce = { W(0x20, 0), R(0x24), W(0x64, 0) },
		.raise = { { W(0x60, 0x1) } },
		.ack = { { W(0x64, 0x1) } },
		.disable = { W(0x20, 0), R(0x24), W(0x64, 0), R(0x00) },
	}, {
		.model = &msi_model_82574, .name = "82574, MSI", .vectors = 1,
		.ctrl_ext = 0x99580000,
		.quiesce = { E1000E_QUIESCE(E1000E_MASK_82574, 0x10580000) },
		.enable = { E1000E_MSI(0x10580000) },
		.raise = { { W(0xc8, 0x10) } },
		.ack = { { W(0xc0, 0x10) } },
		.disable = { E1000E_MASK_82574, R(0x08) },
	}, {
		.model = &msi_model_82574, .name = "82574, 4 MSI-X", .msix = true, .vectors = 4,
		.ctrl_ext = 0x18580000,
		.quiesce = { E1000E_QUIESCE(E1000E_MASK_82574, 0x10580000) },
		.enable = { R(0x18), W(0x18, 0x91580000),
			    W(0xe8, 0), W(0xec, 0), W(0xf0, 0), W(0xf4, 0),
			    W(0xe4, 0xba98), W(0xdc, 0xf00000), W(0xc0, ALL), W(0xd0, 0xf00000),
			    R(0x08) },
		.raise = { { W(0xc8, 0x100000) }, { W(0xc8, 0x200000) }, { W(0xc8, 0x400000) },
			   { W(0xc8, 0x800000) } },
		.rearm = { { W(0xd0, 0x100000) }, { W(0xd0, 0x200000) }, { W(0xd0, 0x400000) },
			   { W(0xd0, 0x800000) } },
		.disable = { E1000E_MASK_82574, R(0x08) },
	},
	E1000E_MSI_ONLY("82583", msi_model_82583),
	E1000E_MSI_ONLY("I217", msi_model_i217),
	E1000E_MSI_ONLY("I218", msi_model_i218),
	E1000E_MSI_ONLY("I219", msi_model_i219),
	IGB("82576", msi_model_82576),
	IGB("82580", msi_model_82580),
	IGB("I350", msi_model_i350),
	IGB("I354", msi_model_i354),
	IGB("I210", msi_model_i210),
	IGB("I211", msi_model_i211),
	IGC("I225", msi_model_i225),
	IGC("I226", msi_model_i226),
	IGC("I220", msi_model_i220),
	IGC("I221", msi_model_i221),
};

/* ---- devices ---- */

/* A chip that answers its pin: a cause sets it, clearing it takes it away. */
static void chip_written(u32 where, u32 what)
{
	if (where == 0xc8)
		fake.intx = true;
	else if (where == 0xc0 && what)
		fake.intx = false;
}

/* One that holds back every second cause, as a moderated one does. */
static void stuck_written(u32 where, u32 what)
{
	static bool second;

	if (where == 0xc8) {
		fake.intx = !second;
		second = !second;
	} else if (where == 0xc0 && what) {
		fake.intx = false;
	}
}

static struct pci_dev nobody;

static void fake_reset(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.written = chip_written;
}

static struct msi_dev device_of(const struct msi_model *model)
{
	return (struct msi_dev){
		.pdev = &nobody,
		.model = model,
		.family = model->family,
		.regs = fake.registers,
	};
}

/* ---- comparing ---- */

static const char *const kinds[] = { "end", "write", "read", "wait", "intx" };

static void same_events(const char *name, const char *step, const struct fake_event *expected,
			size_t room)
{
	size_t i;

	for (i = 0; i < fake.n || (i < room && expected[i].kind); i++) {
		struct fake_event none = { FAKE_END, 0, 0 };
		struct fake_event want = i < room ? expected[i] : none;
		struct fake_event got = i < fake.n ? fake.events[i] : none;

		tap_case(got.kind == want.kind && got.where == want.where && got.what == want.what,
			 "%s, %s, step %zu: %s %#x %#x, not %s %#x %#x", name, step, i,
			 kinds[got.kind], got.where, got.what, kinds[want.kind], want.where,
			 want.what);
	}
	tap_case(fake.n < FAKE_EVENTS, "%s, %s: endless", name, step);
	fake.n = 0;
}

static void ring(const struct msi_doorbell *bell)
{
	if (bell->reg)
		msi_ring(bell);
}

static void same_lines(const struct expected *table, const struct msi_line *lines)
{
	unsigned int i;

	for (i = 0; i < LINES_MAX; i++) {
		ring(&lines[i].raise);
		same_events(table->name, "raise", table->raise[i], 2);
		ring(&lines[i].ack);
		same_events(table->name, "ack", table->ack[i], 2);
		ring(&lines[i].rearm);
		same_events(table->name, "rearm", table->rearm[i], 2);
	}
}

static void run(const struct expected *table)
{
	struct msi_line lines[LINES_MAX] = { 0 };
	struct msi_dev dev = device_of(table->model);
	char sentence[100];
	int err;

	fake_reset();
	memcpy(fake.registers + 0x18, &table->ctrl_ext, sizeof(table->ctrl_ext));
	dev.msix = table->msix;
	err = dev.family->quiesce(&dev);
	tap_case(!err, "%s: quiesce says %d", table->name, err);
	same_events(table->name, "quiesce", table->quiesce, ARRAY_SIZE(table->quiesce));
	err = dev.family->enable(&dev, lines, table->vectors);
	tap_case(!err, "%s: enable says %d", table->name, err);
	same_events(table->name, "enable", table->enable, ARRAY_SIZE(table->enable));
	same_lines(table, lines);
	dev.family->disable(&dev);
	same_events(table->name, "disable", table->disable, ARRAY_SIZE(table->disable));
	snprintf(sentence, sizeof(sentence),
		 "%s: quiesce, enable, raise, acknowledge, re-arm and disable write what they must",
		 table->name);
	tap_claim(sentence);
}

/* ---- more claims ---- */

static enum msi_moderation moderation(void (*written)(u32 where, u32 what))
{
	struct msi_dev dev = device_of(&msi_model_82574);

	fake_reset();
	fake.written = written;
	dev.family->quiesce(&dev);
	return dev.moderation;
}

static void moderations(void)
{
	tap_case(moderation(chip_written) == MSI_MODERATION_OFF, "chip that can switch it off");
	tap_case(moderation(stuck_written) == MSI_MODERATION_STUCK, "chip that cannot");
	tap_case(moderation(NULL) == MSI_MODERATION_UNKNOWN, "chip that does not use its pin");
	tap_claim("e1000e: moderation that stays on is found out, and only that");
}

static void pins(void)
{
	struct msi_dev dev = device_of(&msi_model_82574);
	unsigned int i, on = 0;

	fake_reset();
	fake.command = PCI_COMMAND_INTX_DISABLE;
	dev.family->quiesce(&dev);
	for (i = 0; i < fake.n; i++)
		on += fake.events[i].kind == FAKE_INTX && fake.events[i].where;
	tap_case(!on, "the pin was switched on");
	tap_claim("e1000e: a pin that was off stays off");
}

/* The identity table by model: each identity once, each model complete or refused. */
static const struct {
	unsigned int vendor, device;
	const struct msi_model *model;
} ids[] = {
#define MSI_ID(vendor, device, model) { vendor, device, &(model) },
#include "../../../modules/msi/msi_ids.def"
#undef MSI_ID
};

static void identities(void)
{
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(ids); i++)
		for (k = 0; k < i; k++)
			tap_case(ids[i].vendor != ids[k].vendor || ids[i].device != ids[k].device,
				 "%04x:%04x twice", ids[i].vendor, ids[i].device);
	tap_claim("no PCI identity stands twice in the table");
	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		const struct msi_model *model = ids[i].model;

		tap_case(model->name && model->family && model->family->name,
			 "%04x:%04x has no name", ids[i].vendor, ids[i].device);
		tap_case(!model->refusal == !!model->msi_vectors,
			 "%s: either refused or with vectors", model->name);
		tap_case(model->refusal || model->layout || model == &msi_model_edu,
			 "%s has no registers", model->name);
		tap_case(model->family->safe_reg == (model == &msi_model_edu ? 0x0 : 0x8),
			 "%s: safe register", model->name);
	}
	tap_claim("each identity has a model that is complete, or says why it is refused");
}

static void absences(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		struct msi_dev dev = device_of(tables[i].model);
		int err;

		if (tables[i].model == &msi_model_edu)
			continue;
		fake_reset();
		fake.gone = true;
		err = dev.family->quiesce(&dev);
		tap_case(err == -EIO, "%s: %d", tables[i].name, err);
	}
	tap_claim("a device that reads all ones is refused");
}

static void emulations(void)
{
	static const struct pci_dev qemu_e1000e = { .subsystem_vendor = 0x8086 };
	static const struct pci_dev qemu_igb = {
		.subsystem_vendor = 0x1af4, .subsystem_device = 0x1100,
	};
	static const struct pci_dev board = {
		.subsystem_vendor = 0x8086, .subsystem_device = 0xa01f,
	};

	tap_case(e1000e_emulated(&qemu_e1000e) && !e1000e_emulated(&board), "e1000e");
	tap_case(igb_emulated(&qemu_igb) && !igb_emulated(&board), "igb");
	tap_case(!igc_emulated(&board) && edu_emulated(&board), "igc, edu");
	tap_claim("QEMU's devices are told from boards");
}

int main(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++)
		run(&tables[i]);
	moderations();
	pins();
	absences();
	emulations();
	identities();
	return tap_end();
}
