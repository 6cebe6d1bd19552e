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

static const struct expected tables[] = {
#include "tables.def"
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
