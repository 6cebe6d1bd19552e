// SPDX-License-Identifier: GPL-2.0-only
/*
 * What lies between a CPU and a PCI device, read at start so that it stands beside every result:
 * the power state, the NUMA node, the PCIe link and what puts it to sleep. Compiled once into each
 * module that measures with PCI devices, like the core.
 */
#include <linux/pci.h>

#include "../core/lat.h"
#include "pci_facts.h"

/* Speeds by their code in Link Capabilities and Link Status (PCIe base specification 7.5.3.6). */
static const char *const lat_pci_speed_names[] = {
	"?", "2.5 GT/s", "5 GT/s", "8 GT/s", "16 GT/s", "32 GT/s", "64 GT/s",
};

/* ASPM states by the two bits of Link Control (PCIe base specification 7.5.3.7). */
static const char *const lat_pci_aspm_names[] = { "off", "L0s", "L1", "L0s+L1" };

/* The L1 substates that may be enabled; their register is in an extended capability. */
static const struct lat_pci_substate {
	u32 bits;
	const char *name;
} lat_pci_substates[] = {
	{ PCI_L1SS_CTL1_ASPM_L1_1, "L1.1" },
	{ PCI_L1SS_CTL1_ASPM_L1_2, "L1.2" },
};

static const char *lat_pci_speed_name(u32 code)
{
	return lat_pci_speed_names[code < ARRAY_SIZE(lat_pci_speed_names) ? code : 0];
}

static void lat_pci_describe_speed(struct lat *lat, struct pci_dev *pdev)
{
	u32 capability;
	u16 status;

	if (pcie_capability_read_word(pdev, PCI_EXP_LNKSTA, &status) ||
	    pcie_capability_read_dword(pdev, PCI_EXP_LNKCAP, &capability))
		return;
	lat_fact(lat, "link", "%s x%u of %s x%u",
		 lat_pci_speed_name(status & PCI_EXP_LNKSTA_CLS),
		 (status & PCI_EXP_LNKSTA_NLW) >> PCI_EXP_LNKSTA_NLW_SHIFT,
		 lat_pci_speed_name(capability & PCI_EXP_LNKCAP_SLS),
		 (capability & PCI_EXP_LNKCAP_MLW) >> 4);
}

static void lat_pci_describe_aspm(struct lat *lat, struct pci_dev *pdev)
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
	n = scnprintf(text, sizeof(text), "%s", lat_pci_aspm_names[control]);
	for (i = 0; i < ARRAY_SIZE(lat_pci_substates); i++)
		if (substates & lat_pci_substates[i].bits)
			n += scnprintf(text + n, sizeof(text) - n, "+%s",
				       lat_pci_substates[i].name);
	lat_fact(lat, "aspm", "%s", text);
	if (control)
		lat_note(lat, "aspm", LAT_SEVERITY_WARN, -1,
			 "the link of %s may sleep (%s): the first access after a pause pays for waking it",
			 pci_name(pdev), text);
}

/* A root complex integrated endpoint has the capability, but no link. */
static void lat_pci_describe_link(struct lat *lat, struct pci_dev *pdev)
{
	if (!pci_is_pcie(pdev)) {
		lat_fact(lat, "link", "conventional PCI");
		return;
	}
	if (pci_pcie_type(pdev) == PCI_EXP_TYPE_RC_END) {
		lat_fact(lat, "link", "integrated in the root complex");
		return;
	}
	lat_pci_describe_speed(lat, pdev);
	lat_fact(lat, "payload", "%d of %d bytes", pcie_get_mps(pdev), 128 << pdev->pcie_mpss);
	lat_pci_describe_aspm(lat, pdev);
}

void lat_describe_pci(struct lat *lat, struct pci_dev *pdev)
{
	int node = dev_to_node(&pdev->dev);

	lat_fact(lat, "power_state", "%s", pci_power_name(pdev->current_state));
	if (node >= 0)
		lat_fact(lat, "device_node", "%d", node);
	lat_pci_describe_link(lat, pdev);
}
