// SPDX-License-Identifier: GPL-2.0-only
/*
 * What lies between a device and the CPU that it interrupts, read at start so that it stands beside
 * every result: the power state, the PCIe link and what puts it to sleep, moderation that cannot be
 * switched off, and the interrupt controllers on the way.
 */
#include <linux/irq.h>
#include <linux/irqdomain.h>

#include "../core/lat.h"
#include "msi_dev.h"

/* Speeds by their code in Link Capabilities and Link Status (PCIe base specification 7.5.3.6). */
static const char *const msi_speed_names[] = {
	"?", "2.5 GT/s", "5 GT/s", "8 GT/s", "16 GT/s", "32 GT/s", "64 GT/s",
};

/* ASPM states by the two bits of Link Control (PCIe base specification 7.5.3.7). */
static const char *const msi_aspm_names[] = { "off", "L0s", "L1", "L0s+L1" };

/* The L1 substates that may be enabled; their register is in an extended capability. */
static const struct msi_substate {
	u32 bits;
	const char *name;
} msi_substates[] = {
	{ PCI_L1SS_CTL1_ASPM_L1_1, "L1.1" },
	{ PCI_L1SS_CTL1_ASPM_L1_2, "L1.2" },
};

static const char *msi_speed_name(u32 code)
{
	return msi_speed_names[code < ARRAY_SIZE(msi_speed_names) ? code : 0];
}

static void msi_describe_speed(struct lat *lat, struct pci_dev *pdev)
{
	u32 capability;
	u16 status;

	if (pcie_capability_read_word(pdev, PCI_EXP_LNKSTA, &status) ||
	    pcie_capability_read_dword(pdev, PCI_EXP_LNKCAP, &capability))
		return;
	lat_fact(lat, "link", "%s x%u of %s x%u",
		 msi_speed_name(status & PCI_EXP_LNKSTA_CLS),
		 (status & PCI_EXP_LNKSTA_NLW) >> PCI_EXP_LNKSTA_NLW_SHIFT,
		 msi_speed_name(capability & PCI_EXP_LNKCAP_SLS),
		 (capability & PCI_EXP_LNKCAP_MLW) >> 4);
}

static void msi_describe_aspm(struct lat *lat, struct pci_dev *pdev)
{
	int l1ss = pci_find_ext_capability(pdev, PCI_EXT_CAP_ID_L1SS);
	u16 control;
	u32 substates = 0;
	char text[32];
	size_t n, i;

	if (pcie_capability_read_word(pdev, PCI_EXP_LNKCTL, &control))
		return;
	control &= PCI_EXP_LNKCTL_ASPMC;
	if (l1ss)
		pci_read_config_dword(pdev, l1ss + PCI_L1SS_CTL1, &substates);
	n = scnprintf(text, sizeof(text), "%s", msi_aspm_names[control]);
	for (i = 0; i < ARRAY_SIZE(msi_substates); i++)
		if (substates & msi_substates[i].bits)
			n += scnprintf(text + n, sizeof(text) - n, "+%s", msi_substates[i].name);
	lat_fact(lat, "aspm", "%s", text);
	if (control)
		lat_note(lat, "aspm", LAT_SEVERITY_WARN, -1,
			 "the link of %s may sleep (%s): the first access after a pause pays for waking it",
			 pci_name(pdev), text);
}

/* A root complex integrated endpoint has the capability, but no link. */
static void msi_describe_link(struct lat *lat, struct pci_dev *pdev)
{
	if (!pci_is_pcie(pdev)) {
		lat_fact(lat, "link", "conventional PCI");
		return;
	}
	if (pci_pcie_type(pdev) == PCI_EXP_TYPE_RC_END) {
		lat_fact(lat, "link", "integrated in the root complex");
		return;
	}
	msi_describe_speed(lat, pdev);
	msi_describe_aspm(lat, pdev);
}

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
	lat_fact(lat, "power_state", "%s", pci_power_name(pdev->current_state));
	msi_describe_link(lat, pdev);
	if (dev->vectors)
		msi_describe_controllers(lat, dev);
	if (dev->moderation == MSI_MODERATION_STUCK)
		lat_note(lat, "moderation", LAT_SEVERITY_WARN, -1,
			 "%s holds back a message that follows another too closely, although told not to",
			 pci_name(pdev));
}
