/* SPDX-License-Identifier: GPL-2.0-only */
/* What stands beside every result that was measured with a PCI device. */
#ifndef LAT_PCI_FACTS_H
#define LAT_PCI_FACTS_H

struct lat;
struct pci_dev;

/**
 * lat_describe_pci() - facts and notes about a device and the way to it
 * @lat: the instrument
 * @pdev: the device, awake
 *
 * Power state, NUMA node, PCIe link, its payload and its power saving.
 *
 * Context: process, lat->lock.
 */
void lat_describe_pci(struct lat *lat, struct pci_dev *pdev);

#endif /* LAT_PCI_FACTS_H */
