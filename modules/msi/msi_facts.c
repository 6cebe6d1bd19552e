// SPDX-License-Identifier: GPL-2.0-only
/*
 * What lies between a device and the CPU that it interrupts, read at start so that it stands beside
 * every result: the way to the device (pci/pci_facts.c), moderation that cannot be switched off,
 * and the interrupt controllers on the way.
 */
#include <linux/irq.h>
#include <linux/irqdomain.h>

#include "../core/lat.h"
#include "../pci/pci_facts.h"
#include "msi_dev.h"

/*
 * The chain of interrupt controllers from the device on. The kernel names those that remap
 * interrupts IR-... (their MSI domains) and INTEL-IR, AMD-IR, INTEL-IR-POST (the remapper itself).
 */
static void msi_describe_controllers(struct lat *lat, const struct msi_dev *dev)
{
	struct irq_data *data = irq_get_irq_data(pci_irq_vector(dev->pdev, 0));
	bool remapped = false, posted = false;
	char text[96] = "";
	size_t n = 0;

	for (; data; data = data->parent_data) {
		struct irq_chip *chip = irq_data_get_irq_chip(data);
		const char *name = chip && chip->name ? chip->name : "?";

		remapped = remapped || strstarts(name, "IR-") || strstr(name, "-IR");
		posted = posted || strstr(name, "-IR-POST");
		n += scnprintf(text + n, sizeof(text) - n, "%s%s", n ? " > " : "", name);
	}
	lat_fact(lat, "irq_route", "%s", text);
	lat_fact(lat, "irq_remapping", "%u", remapped);
	lat_fact(lat, "posted_msi", "%u", posted);
	if (posted)
		lat_note(lat, "posted-msi", LAT_SEVERITY_WARN, -1,
			 "messages of %s are posted: several of them may become one interrupt",
			 pci_name(dev->pdev));
}

void msi_describe_route(struct lat *lat, const struct msi_dev *dev)
{
	struct pci_dev *pdev = dev->pdev;

	lat_fact(lat, "model", "%s", dev->model->name);
	lat_describe_pci(lat, pdev);
	if (dev->vectors)
		msi_describe_controllers(lat, dev);
	if (dev->moderation == MSI_MODERATION_STUCK)
		lat_note(lat, "moderation", LAT_SEVERITY_WARN, -1,
			 "%s holds back a message that follows another too closely, although told not to",
			 pci_name(pdev));
}
