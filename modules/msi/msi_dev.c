// SPDX-License-Identifier: GPL-2.0-only
/*
 * Getting and losing the one device a module measures with: the driver that only ever claims the
 * device its user named, and the device's interrupt vectors.
 */
#include <linux/delay.h>
#include <linux/module.h>

#include "../core/lat.h"
#include "msi_dev.h"

/* Who uses the device, and the device; both set before it can be found. */
static const struct msi_binding *msi_binding;
static struct msi_dev msi_device;
/* What the last probe of the named device said; under device_lock. */
static int msi_probe_err;

static const struct msi_family *const msi_families[] = {
	&msi_family_edu,
	&msi_family_e1000e,
	&msi_family_igb,
	&msi_family_igc,
};

#define MSI_ID(vendor, device, model) \
	{ PCI_DEVICE(vendor, device), .driver_data = (kernel_ulong_t)&(model) },
static const struct pci_device_id msi_ids[] = {
#include "msi_ids.def"
	{ }
};

#undef MSI_ID

/* What a device is, by its row of the table. */
static const struct msi_model *msi_model_of(const struct pci_device_id *id)
{
	return (const struct msi_model *)id->driver_data;
}

/* Does the current setting name this device? Context: lat->lock. */
static bool msi_is_named(const struct pci_dev *pdev)
{
	const char *text = lat_param(msi_binding->lat, msi_binding->row)->text;
	unsigned int bus, devfn;
	int domain;

	return lat_parse_pci_address(text, &domain, &bus, &devfn) &&
	       pci_domain_nr(pdev->bus) == domain && pdev->bus->number == bus &&
	       pdev->devfn == devfn;
}

bool msi_is_wanted(const struct msi_dev *dev)
{
	return msi_is_named(dev->pdev);
}

static int msi_map(struct msi_dev *dev)
{
	int bar = dev->family->bar, err;

	if (!(pci_resource_flags(dev->pdev, bar) & IORESOURCE_MEM))
		return -ENODEV;
	err = pci_enable_device_mem(dev->pdev);
	if (err)
		return err;
	err = pci_request_region(dev->pdev, bar, KBUILD_MODNAME);
	if (err)
		goto err_disable;
	err = -ENOMEM;
	dev->regs = pci_iomap(dev->pdev, bar, 0);
	if (!dev->regs)
		goto err_release;
	return 0;

err_release:
	pci_release_region(dev->pdev, bar);
err_disable:
	pci_disable_device(dev->pdev);
	return err;
}

static void msi_unmap(struct msi_dev *dev)
{
	pci_iounmap(dev->pdev, dev->regs);
	pci_release_region(dev->pdev, dev->family->bar);
	pci_disable_device(dev->pdev);
}

static int msi_take(struct msi_dev *dev)
{
	int err = msi_map(dev);

	if (err) {
		pci_err(dev->pdev, "its registers in BAR %d cannot be mapped (%d)\n",
			dev->family->bar, err);
		return err;
	}
	err = dev->family->quiesce(dev);
	if (err) {
		pci_err(dev->pdev, "it cannot be quieted (%d)\n", err);
		goto err_unmap;
	}
	pci_set_master(dev->pdev);
	return 0;

err_unmap:
	msi_unmap(dev);
	return err;
}

static int msi_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	const struct msi_model *model = msi_model_of(id);
	struct mutex *lock = &msi_binding->lat->lock;
	int err = -ENODEV;

	mutex_lock(lock);
	if (!msi_is_named(pdev))
		goto out_unlock;
	/* driver_override brings any device here, with an identity that says nothing. */
	if (!model) {
		pci_err(pdev, "it belongs to no family that can send interrupts on request\n");
		goto out_unlock;
	}
	if (model->refusal) {
		pci_err(pdev, "an %s cannot be used: %s\n", model->name, model->refusal);
		goto out_unlock;
	}
	err = -EBUSY;
	if (msi_device.pdev)
		goto out_unlock;
	msi_device = (struct msi_dev){
		.pdev = pdev,
		.model = model,
		.family = model->family,
	};
	err = msi_take(&msi_device);
	if (err) {
		msi_device.pdev = NULL;
	} else {
		pci_set_drvdata(pdev, &msi_device);
		msi_binding->bound(&msi_device);
	}
	msi_probe_err = err;
out_unlock:
	mutex_unlock(lock);
	return err;
}

static void msi_remove(struct pci_dev *pdev)
{
	struct msi_dev *dev = pci_get_drvdata(pdev);
	struct lat *lat = msi_binding->lat;

	mutex_lock(&lat->lock);
	/* One critical section: between stop and unbound nobody may start another session. */
	lat_stop_locked(lat, LAT_STOP_DEVICE_REMOVED);
	msi_binding->unbound(dev);
	dev->family->disable(dev);
	msi_vectors_free(dev);
	pci_clear_master(pdev);
	msi_unmap(dev);
	dev->pdev = NULL;
	mutex_unlock(&lat->lock);
}

/* The machine goes down: let the device not send into a kernel that comes next. */
static void msi_shutdown(struct pci_dev *pdev)
{
	struct msi_dev *dev = pci_get_drvdata(pdev);

	lat_stop(msi_binding->lat, LAT_STOP_REBOOT);
	dev->family->disable(dev);
	pci_clear_master(pdev);
}

/* No MODULE_DEVICE_TABLE: nobody's card is taken because this module is installed. */
static struct pci_driver msi_driver = {
	.name = KBUILD_MODNAME,
	.id_table = msi_ids,
	.probe = msi_probe,
	.remove = msi_remove,
	.shutdown = msi_shutdown,
	.driver.probe_type = PROBE_FORCE_SYNCHRONOUS,
};

static void msi_family_names(char *names, size_t size)
{
	size_t n = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(msi_families); i++)
		n += scnprintf(names + n, size - n, "%s%s", i ? ", " : "", msi_families[i]->name);
}

/* Can the device be ours? Says why not. */
static int msi_bind_check(struct pci_dev *pdev, const char *text, struct lat_why *why)
{
	const struct pci_device_id *id = pci_match_id(msi_ids, pdev);
	const struct device_driver *driver;
	char families[64];
	int err = 0;

	if (!id) {
		msi_family_names(families, sizeof(families));
		return lat_refuse(why, -ENODEV,
				  "device=%s: %04x:%04x belongs to none of the families %s", text,
				  pdev->vendor, pdev->device, families);
	}
	if (msi_model_of(id)->refusal)
		return lat_refuse(why, -ENODEV, "device=%s: an %s cannot be used: %s", text,
				  msi_model_of(id)->name, msi_model_of(id)->refusal);
	device_lock(&pdev->dev);
	driver = pdev->dev.driver;
	if (driver)
		err = lat_refuse(why, -EBUSY,
				 "device=%s: bound to %s; first: echo %s > /sys/bus/pci/drivers/%s/unbind, or use --rebind",
				 text, driver->name, pci_name(pdev), driver->name);
	device_unlock(&pdev->dev);
	return err;
}

/* Register the driver and see whether it got the device. */
static int msi_bind_register(struct pci_dev *pdev, const char *text, struct lat_why *why)
{
	int err;

	msi_probe_err = 0;
	err = pci_register_driver(&msi_driver);
	if (err)
		return lat_refuse(why, err, "the driver cannot be registered (%d)", err);
	if (!pdev || msi_device.pdev == pdev)
		return 0;

	pci_unregister_driver(&msi_driver);
	if (msi_probe_err)
		return lat_refuse(why, msi_probe_err, "device=%s: cannot be used (%d), see above",
				  text, msi_probe_err);
	return lat_refuse(why, -EBUSY,
			  "device=%s: kept for another driver; first: echo > /sys/bus/pci/devices/%s/driver_override",
			  text, pci_name(pdev));
}

int msi_bind_init(const struct msi_binding *binding, struct lat_why *why)
{
	const char *text = lat_param(binding->lat, binding->row)->text;
	struct pci_dev *pdev;
	unsigned int bus, devfn;
	int domain, err;

	msi_binding = binding;
	if (!*text)
		return msi_bind_register(NULL, text, why);
	if (!lat_parse_pci_address(text, &domain, &bus, &devfn))
		return lat_refuse(why, -EINVAL,
				  "device=%s: must be a PCI address, as 0000:00:04.0", text);
	pdev = pci_get_domain_bus_and_slot(domain, bus, devfn);
	if (!pdev)
		return lat_refuse(why, -ENODEV, "device=%s: there is no such PCI device", text);
	err = msi_bind_check(pdev, text, why);
	if (!err)
		err = msi_bind_register(pdev, text, why);
	pci_dev_put(pdev);
	return err;
}

void msi_bind_exit(void)
{
	pci_unregister_driver(&msi_driver);
}

/* Vectors of a kind the family and this very device offer. */
static unsigned int msi_vectors_offered(const struct msi_dev *dev, bool msix)
{
	int here = msix ? pci_msix_vec_count(dev->pdev) : pci_msi_vec_count(dev->pdev);
	unsigned int model = msix ? dev->model->msix_vectors : dev->model->msi_vectors;

	return here < 0 ? 0 : min_t(unsigned int, here, model);
}

/* MSI-X? ``auto`` takes the family's kind where it reaches, else the other. */
static bool msi_vectors_kind(const struct msi_dev *dev, unsigned int n, unsigned int kind)
{
	bool preferred = dev->family->prefer_msix;

	if (kind)
		return kind == 2;
	return n > msi_vectors_offered(dev, preferred) && msi_vectors_offered(dev, !preferred) ?
		!preferred : preferred;
}

int msi_vectors_check(const struct msi_dev *dev, unsigned int n, unsigned int kind,
		      struct lat_why *why)
{
	bool msix = msi_vectors_kind(dev, n, kind);
	unsigned int offered = msi_vectors_offered(dev, msix);

	if (!offered)
		return lat_refuse(why, kind ? -EINVAL : -ENODEV, "vector=%s: %s has no MSI%s",
				  kind ? (msix ? "msix" : "msi") : "auto", pci_name(dev->pdev),
				  msix ? "-X" : "");
	if (n > offered)
		return lat_refuse(why, -EINVAL, "%u CPUs need as many vectors, %s has %u MSI%s", n,
				  pci_name(dev->pdev), offered, msix ? "-X" : "");
	return 0;
}

int msi_vectors_alloc(struct msi_dev *dev, unsigned int n, unsigned int kind, struct lat_why *why)
{
	bool msix = msi_vectors_kind(dev, n, kind);
	int got = pci_alloc_irq_vectors(dev->pdev, n, n, msix ? PCI_IRQ_MSIX : PCI_IRQ_MSI);

	if (got < 0)
		return lat_refuse(why, got, "%u MSI%s vectors of %s were refused (%d)", n,
				  msix ? "-X" : "", pci_name(dev->pdev), got);
	dev->msix = msix;
	dev->vectors = n;
	return 0;
}

void msi_vectors_free(struct msi_dev *dev)
{
	if (!dev->vectors)
		return;
	/* A moderated message may still be under way; some emulations abort on freed vectors. */
	if (dev->family->settle_ms)
		msleep(dev->family->settle_ms);
	pci_free_irq_vectors(dev->pdev);
	dev->vectors = 0;
}
