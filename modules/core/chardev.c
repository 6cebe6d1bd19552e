// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/<instrument>: every sample as it is recorded, and the way back for user space's own stamps.
 *
 * The stream: one ring per CPU, written with interrupts off by whatever records on that CPU, so
 * that it needs no lock, and only while somebody reads. The writer never waits: it overwrites the
 * oldest record, and each reader, with positions of its own, finds out what it has lost and is told
 * so in-band. Readers are woken when a quarter of a ring has filled and every few milliseconds,
 * never per sample.
 */
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/uaccess.h>

#include "internal.h"

#define LAT_BATCH	32	/* records copied at once */
#define LAT_STREAM_MS	10	/* a slow stream reaches its reader after this */

/**
 * struct lat_ring - the records of one CPU
 * @head: records written so far; the CPU's, interrupts off
 * @slots: the last of them
 */
struct lat_ring {
	u64 head;
	struct lat_sample slots[];
};

/**
 * struct lat_stream - the rings of one session
 * @ref: the session and every reader that is attached
 * @generation: the session
 * @ended: it is over
 * @slots: records per ring, a power of two
 * @slot_mask: @slots - 1
 * @wake_mask: readers are woken when a head has none of these bits
 * @lost_elsewhere: records of CPUs without a ring
 * @told: sum of the heads when readers were last woken; of the periodic work
 * @ring: nr_cpu_ids rings, NULL for CPUs that the session does not use
 */
struct lat_stream {
	struct kref ref;
	u32 generation;
	bool ended;
	u64 slots;
	u64 slot_mask;
	u64 wake_mask;
	atomic64_t lost_elsewhere;
	u64 told;
	struct lat_ring *ring[];
};

/**
 * struct lat_reader - an open file
 * @lat: the instrument
 * @lock: serialises its reads
 * @stream: the session it is attached to, or NULL
 * @seen: the session before which it was open or that it has read to its end
 * @pos: next record of each ring
 * @batch: records on their way to user space
 * @waits: it is the waiter of a CPU instead
 * @counted: it counts as a reader
 * @cpu: that CPU
 * @user_ended: sessions that had ended when it last looked; under @lock
 */
struct lat_reader {
	struct lat *lat;
	struct mutex lock; /* serialises reads */
	struct lat_stream *stream;
	u32 seen;
	u64 *pos;
	struct lat_sample batch[LAT_BATCH];
	bool waits;
	bool counted;
	unsigned int cpu;
	u32 user_ended;
};

/* ---- the stream's writing side ---- */

/*
 * Add a sample and end the recorder's write. Waking the readers comes last, as a tail call.
 *
 * Context: as lat_record(), inside its seqcount.
 */
notrace void lat_stream_add_end(struct lat_rec *rec, u64 seq, u64 stimulus_ns, s64 ns, u32 flags)
{
	struct lat_stream *stream = rec->stream;
	struct lat_ring *ring = stream->ring[(unsigned int)smp_processor_id()];
	struct lat_sample *slot;
	u64 head;

	if (unlikely(!ring)) {
		atomic64_inc(&stream->lost_elsewhere);
		raw_write_seqcount_end(&rec->seqcount);
		return;
	}
	head = ring->head;
	slot = &ring->slots[head & stream->slot_mask];
	slot->seq = seq;
	slot->time_ns = stimulus_ns;
	slot->latency_ns = ns;
	slot->flags = flags;
	slot->cpu = rec->cpu;
	slot->point = rec->point;
	head++;
	/* Pairs with lat_ring_take(). */
	smp_store_release(&ring->head, head);
	raw_write_seqcount_end(&rec->seqcount);
	if (unlikely(!(head & stream->wake_mask)))
		irq_work_queue(&rec->lat->stream_irq_work);
}

static void lat_stream_release(struct kref *ref)
{
	struct lat_stream *stream = container_of(ref, struct lat_stream, ref);
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		kvfree(stream->ring[cpu]);
	kfree(stream);
}

/* Rings for every CPU of the session. Context: process, lat->lock. */
static struct lat_stream *lat_stream_alloc(struct lat *lat)
{
	struct lat_stream *stream;
	struct lat_ring *ring;
	unsigned int cpu;

	stream = kzalloc(struct_size(stream, ring, nr_cpu_ids), GFP_KERNEL);
	if (!stream)
		return NULL;
	kref_init(&stream->ref);
	stream->generation = lat->generation;
	stream->slots = lat_value(lat, LAT_P_ring) / sizeof(struct lat_sample);
	stream->slot_mask = stream->slots - 1;
	stream->wake_mask = stream->slots / 4 - 1;
	for_each_cpu(cpu, lat->config.used) {
		ring = kvzalloc_node(struct_size(ring, slots, stream->slots), GFP_KERNEL,
				     cpu_to_node(cpu));
		if (!ring) {
			kref_put(&stream->ref, lat_stream_release);
			return NULL;
		}
		stream->ring[cpu] = ring;
	}
	return stream;
}

/* Let every recorder write to the stream, or not. Context: process, lat->lock. */
static void lat_stream_switch(struct lat *lat, bool on)
{
	unsigned int i, point;

	for (i = 0; i < lat->ncpus; i++) {
		for (point = 0; point < LAT_POINTS_MAX; point++) {
			struct lat_rec *rec = lat->cpu[i].rec[point];

			if (!rec)
				continue;
			rec->stream = lat->stream;
			/* Pairs with lat_rec_extras(): the bit is seen after the rings. */
			smp_store_release(&rec->extras,
					  on ? rec->extras | LAT_EXTRA_STREAM :
					       rec->extras & ~LAT_EXTRA_STREAM);
		}
	}
}

/* How long a slow stream may wait. */
static unsigned long lat_stream_delay(void)
{
	return msecs_to_jiffies(LAT_STREAM_MS);
}

/* Make sure that the running session writes a stream. Context: process, lat->lock. */
static int lat_stream_on(struct lat *lat)
{
	if (!lat->stream)
		lat->stream = lat_stream_alloc(lat);
	if (!lat->stream)
		return -ENOMEM;
	lat_stream_switch(lat, true);
	queue_delayed_work(lat->wq, &lat->stream_work, lat_stream_delay());
	return 0;
}

/**
 * lat_stream_begin() - a session is about to be armed
 * @lat: the instrument
 *
 * Whoever has the device open then gets every sample from the first one on.
 *
 * Context: process, lat->lock.
 * Return: 0 or -ENOMEM
 */
int lat_stream_begin(struct lat *lat)
{
	return lat->readers ? lat_stream_on(lat) : 0;
}

/**
 * lat_stream_end() - a session has stopped
 * @lat: the instrument
 *
 * Context: process, lat->lock; no recorder runs.
 */
void lat_stream_end(struct lat *lat)
{
	if (lat->stream) {
		atomic64_add(atomic64_read(&lat->stream->lost_elsewhere), &lat->drops);
		/* Pairs with lat_reader_can_go_on(). */
		smp_store_release(&lat->stream->ended, true);
		lat_stream_switch(lat, false);
	}
	cancel_delayed_work_sync(&lat->stream_work);
	wake_up_interruptible(&lat->stream_wait);
}

/* Let go of the stream of the last session. Context: process, lat->lock. */
void lat_stream_free(struct lat *lat)
{
	if (lat->stream)
		kref_put(&lat->stream->ref, lat_stream_release);
	lat->stream = NULL;
	atomic64_set(&lat->drops, 0);
}

static void lat_stream_irq_work(struct irq_work *work)
{
	struct lat *lat = container_of(work, struct lat, stream_irq_work);

	wake_up_interruptible(&lat->stream_wait);
}

/* Wake the readers of a stream that is too slow to fill a quarter of a ring. */
static void lat_stream_work(struct work_struct *work)
{
	struct lat *lat = container_of(work, struct lat, stream_work.work);

	wake_up_interruptible(&lat->stream_wait);
	queue_delayed_work(lat->wq, &lat->stream_work, lat_stream_delay());
}

/* ---- the stream's reading side ---- */

/* Is there anything new in a ring? */
static bool lat_reader_has_news(const struct lat_reader *reader)
{
	const struct lat_stream *stream = reader->stream;
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		if (!stream->ring[cpu])
			continue;
		/* Pairs with lat_stream_add(). */
		if (smp_load_acquire(&stream->ring[cpu]->head) != reader->pos[cpu])
			return true;
	}
	return false;
}

/* What a blocked reader waits for: a session, then records or the end. */
static bool lat_reader_can_go_on(const struct lat_reader *reader)
{
	if (!reader->stream)
		return READ_ONCE(reader->lat->running) ||
		       (READ_ONCE(reader->lat->stream) &&
			READ_ONCE(reader->lat->generation) != reader->seen);
	/* Pairs with lat_stream_end(): news of an ended stream are its last. */
	return smp_load_acquire(&reader->stream->ended) || lat_reader_has_news(reader);
}

/* Attach to the running session. Context: process, reader->lock. */
static int lat_reader_attach(struct lat_reader *reader)
{
	struct lat *lat = reader->lat;
	struct lat_stream *stream;
	unsigned int cpu;
	bool from_start;
	int err = -EAGAIN;

	mutex_lock(&lat->lock);
	/* A session that was short enough to be over by now can still be read whole. */
	from_start = lat->stream && lat->generation != reader->seen;
	if (!lat->running && !from_start)
		goto out_unlock;
	err = lat->running ? lat_stream_on(lat) : 0;
	if (err)
		goto out_unlock;
	stream = lat->stream;
	kref_get(&stream->ref);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		reader->pos[cpu] = 0;
		if (from_start || !stream->ring[cpu])
			continue;
		/* Pairs with lat_stream_add(). */
		reader->pos[cpu] = smp_load_acquire(&stream->ring[cpu]->head);
	}
	reader->stream = stream;
	reader->seen = stream->generation;
out_unlock:
	mutex_unlock(&lat->lock);
	return err;
}

static void lat_reader_detach(struct lat_reader *reader)
{
	if (reader->stream)
		kref_put(&reader->stream->ref, lat_stream_release);
	reader->stream = NULL;
}

/* Take up to @most records of a ring into the batch; one of them may tell of a loss. */
static unsigned int lat_ring_take(struct lat_reader *reader, unsigned int cpu, unsigned int most)
{
	const struct lat_ring *ring = reader->stream->ring[cpu];
	u64 slots = reader->stream->slots, pos = reader->pos[cpu], head, lost = 0;
	unsigned int n, i;

	/* Pairs with lat_stream_add_end(). The slot at the head may be in the making. */
	head = smp_load_acquire(&ring->head);
	if (head - pos >= slots) {
		lost = head - pos - slots + 1;
		/* Go a little further than needed, not to be overtaken again at once. */
		lost = min(head - pos, lost + slots / 8);
	}
	n = min_t(u64, head - pos - lost, most - !!lost);
	for (i = 0; i < n; i++)
		reader->batch[i + !!lost] = ring->slots[(pos + lost + i) & (slots - 1)];
	/* Pairs with the release of the head: what was overwritten meanwhile is not used. */
	smp_rmb();
	head = READ_ONCE(ring->head);
	if (head - (pos + lost) >= slots)
		return 0;
	reader->pos[cpu] = pos + lost + n;
	if (!lost)
		return n;
	atomic64_add(lost, &reader->lat->drops);
	reader->batch[0] = (struct lat_sample){
		.latency_ns = lost,
		.cpu = cpu,
		.flags = LAT_SAMPLE_F_DROPPED,
	};
	return n + 1;
}

/* Copy what is there, whole records. Context: process, reader->lock, attached. */
static ssize_t lat_reader_copy(struct lat_reader *reader, char __user *to, size_t size)
{
	size_t room = size / sizeof(struct lat_sample), done = 0;
	unsigned int cpu, n, tries;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		if (!reader->stream->ring[cpu])
			continue;
		for (tries = 0; room - done && tries < 64;) {
			n = lat_ring_take(reader, cpu, min_t(size_t, room - done, LAT_BATCH));
			if (!n) {
				/* Pairs with lat_stream_add(). */
				if (smp_load_acquire(&reader->stream->ring[cpu]->head) ==
				    reader->pos[cpu])
					break;
				tries++;
				continue;
			}
			if (copy_to_user(to + done * sizeof(struct lat_sample), reader->batch,
					 n * sizeof(struct lat_sample)))
				return -EFAULT;
			done += n;
		}
	}
	return done * sizeof(struct lat_sample);
}

/* Context: process, reader->lock. */
static ssize_t lat_reader_read(struct lat_reader *reader, struct file *file, char __user *to,
			       size_t size)
{
	struct lat *lat = reader->lat;
	ssize_t copied;
	bool ended;
	int err;

	for (;;) {
		if (!reader->stream) {
			err = lat_reader_attach(reader);
			if (err && err != -EAGAIN)
				return err;
		}
		if (reader->stream) {
			/* Pairs with the end of the stream: no record comes after it. */
			ended = smp_load_acquire(&reader->stream->ended);
			copied = lat_reader_copy(reader, to, size);
			if (copied)
				return copied;
			if (ended) {
				lat_reader_detach(reader);
				return 0;
			}
		}
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(lat->stream_wait, lat_reader_can_go_on(reader));
		if (err)
			return err;
	}
}

/* ---- the point "user" ---- */

struct lat_user *lat_user_begin(struct lat *lat, struct lat_rec *rec, u64 period_ns)
{
	struct lat_user *user = &lat->user[rec->cpu];

	mutex_lock(&user->lock);
	user->seq = 0;
	user->done_seq = 0;
	user->end_ns = 0;
	user->samples = 0;
	user->period_ns = period_ns;
	user->rec = rec;
	mutex_unlock(&user->lock);
	return user;
}

void lat_user_end(struct lat *lat, unsigned int cpu)
{
	struct lat_user *user = &lat->user[cpu];

	mutex_lock(&user->lock);
	if (user->rec && lat_user_is_behind(user) && user->oldest_recorded) {
		local_irq_disable();
		lat_rec_lost(user->rec);
		local_irq_enable();
	}
	user->rec = NULL;
	WRITE_ONCE(user->done_seq, user->seq);
	WRITE_ONCE(user->ended, user->ended + 1);
	mutex_unlock(&user->lock);
	rcuwait_wake_up(&user->wait);
}

/* Record a stamp that is in order. Context: process, user->lock. */
static int lat_user_accept(struct lat *lat, struct lat_user *user, u64 stamp_ns)
{
	u64 seq = user->oldest_seq, last;

	local_irq_disable();
	if (smp_processor_id() != user->rec->cpu || stamp_ns < user->oldest_ns ||
	    stamp_ns > lat_now()) {
		local_irq_enable();
		return -EINVAL;
	}
	/* What came while the waiter was late was never its own stimulus. */
	last = smp_load_acquire(&user->seq);
	if (user->oldest_recorded) {
		WRITE_ONCE(user->samples, user->samples + 1);
		lat_record(user->rec, seq, user->oldest_ns, stamp_ns - user->oldest_ns,
			   last > seq ? LAT_SAMPLE_F_LATE : 0);
		lat_missed(user->rec, seq + 1, user->oldest_ns + user->period_ns, stamp_ns,
			   user->period_ns, last - seq);
	}
	user->end_ns = stamp_ns;
	/* Pairs with lat_user_wake() and lat_user_is_behind(). */
	smp_store_release(&user->done_seq, last);
	local_irq_enable();
	return 0;
}

/* Count a stamp that is not accepted. */
static void lat_user_refuse(struct lat *lat, unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < lat->ncpus; i++)
		if (lat->cpu[i].cpu == cpu)
			lat->cpu[i].counter[LAT_INVALID]++;
}

/* Context: process. */
static int lat_user_stamp(struct lat_reader *reader, const struct lat_sample *stamp)
{
	struct lat *lat = reader->lat;
	struct lat_user *user = &lat->user[reader->cpu];
	int err = -EINVAL;

	mutex_lock(&user->lock);
	/* After the end of a session there is nothing to be stamped, and nobody to blame. */
	if (!user->rec) {
		err = -ESRCH;
		goto out_unlock;
	}
	if (lat_user_is_behind(user) && stamp->seq == user->oldest_seq)
		err = lat_user_accept(lat, user, stamp->time_ns);
	if (err)
		lat_user_refuse(lat, reader->cpu);
out_unlock:
	mutex_unlock(&user->lock);
	return err;
}

/* Is there a stimulus without a stamp, or a session that has ended? */
static bool lat_user_has_news(const struct lat_reader *reader, const struct lat_user *user)
{
	/* Pairs with lat_user_wake(). */
	return smp_load_acquire(&user->seq) != READ_ONCE(user->done_seq) ||
	       READ_ONCE(user->ended) != reader->user_ended;
}

static ssize_t lat_user_read(struct lat_reader *reader, struct file *file, char __user *to)
{
	struct lat_user *user = &reader->lat->user[reader->cpu];
	struct lat_sample sample = { .cpu = reader->cpu };
	struct lat_rec *rec;
	int err;

	if (!lat_user_has_news(reader, user)) {
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		err = rcuwait_wait_event(&user->wait, lat_user_has_news(reader, user),
					 TASK_INTERRUPTIBLE);
		if (err)
			return -ERESTARTSYS;
	}
	if (READ_ONCE(user->ended) != reader->user_ended) {
		reader->user_ended = READ_ONCE(user->ended);
		return 0;
	}
	sample.seq = user->oldest_seq;
	sample.time_ns = user->oldest_ns;
	rec = READ_ONCE(user->rec);
	sample.point = rec ? rec->point : 0;
	return copy_to_user(to, &sample, sizeof(sample)) ? -EFAULT : sizeof(sample);
}

/* A file stops being a reader of the stream. Context: process, lat->lock. */
static void lat_reader_uncount(struct lat_reader *reader)
{
	if (!reader->counted)
		return;
	reader->counted = false;
	if (!--reader->lat->readers)
		lat_stream_switch(reader->lat, false);
}

/* Become the waiter of a CPU. Context: process, reader->lock. */
static int lat_user_attach(struct lat_reader *reader, struct file *file, unsigned int cpu)
{
	struct lat *lat = reader->lat;
	struct lat_user *user;
	int err = 0;

	if (cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return -EINVAL;
	if (reader->waits || reader->stream)
		return -EBUSY;
	user = &lat->user[cpu];
	mutex_lock(&user->lock);
	if (user->owner)
		err = -EBUSY;
	else
		WRITE_ONCE(user->owner, file);
	reader->user_ended = user->ended;
	mutex_unlock(&user->lock);
	if (err)
		return err;
	mutex_lock(&lat->lock);
	lat_reader_uncount(reader);
	mutex_unlock(&lat->lock);
	reader->cpu = cpu;
	reader->waits = true;
	return 0;
}

/*
 * The waiter goes. A stimulus that it has not stamped is lost, and the next waiter's never: he
 * would stamp it with the time at which he came. Context: on the CPU of @context, interrupts off,
 * where no stimulus can come in between; user->lock.
 */
static void lat_user_leave(void *context)
{
	struct lat_user *user = context;

	if (user->rec && lat_user_is_behind(user) && user->oldest_recorded)
		lat_rec_lost(user->rec);
	/* Pairs with lat_user_is_behind(): from now on others may touch the results. */
	smp_store_release(&user->done_seq, user->seq);
	/* Pairs with lat_user_is_behind(), too. */
	smp_store_release(&user->owner, NULL);
}

static void lat_user_detach(struct lat_reader *reader)
{
	struct lat_user *user = &reader->lat->user[reader->cpu];

	if (!reader->waits)
		return;
	mutex_lock(&user->lock);
	/* No session uses a CPU that is offline. */
	if (smp_call_function_single(reader->cpu, lat_user_leave, user, true))
		lat_user_leave(user);
	mutex_unlock(&user->lock);
}

/* ---- the file ---- */

static int lat_chardev_open(struct inode *inode, struct file *file)
{
	struct lat *lat = container_of(file->private_data, struct lat, misc);
	struct lat_reader *reader = kvzalloc(sizeof(*reader), GFP_KERNEL);

	if (!reader)
		return -ENOMEM;
	reader->pos = kcalloc(nr_cpu_ids, sizeof(*reader->pos), GFP_KERNEL);
	if (!reader->pos) {
		kvfree(reader);
		return -ENOMEM;
	}
	mutex_init(&reader->lock);
	reader->lat = lat;
	mutex_lock(&lat->lock);
	reader->seen = lat->generation;
	if (file->f_mode & FMODE_READ) {
		reader->counted = true;
		lat->readers++;
	}
	mutex_unlock(&lat->lock);
	file->private_data = reader;
	return stream_open(inode, file);
}

static int lat_chardev_release(struct inode *inode, struct file *file)
{
	struct lat_reader *reader = file->private_data;
	struct lat *lat = reader->lat;

	lat_user_detach(reader);
	lat_reader_detach(reader);
	mutex_lock(&lat->lock);
	lat_reader_uncount(reader);
	mutex_unlock(&lat->lock);
	kfree(reader->pos);
	kvfree(reader);
	return 0;
}

static ssize_t lat_chardev_read(struct file *file, char __user *to, size_t size, loff_t *pos)
{
	struct lat_reader *reader = file->private_data;
	ssize_t n;

	if (size < sizeof(struct lat_sample))
		return -EINVAL;
	if (mutex_lock_interruptible(&reader->lock))
		return -ERESTARTSYS;
	n = reader->waits ? lat_user_read(reader, file, to) :
	    lat_reader_read(reader, file, to, size);
	mutex_unlock(&reader->lock);
	return n;
}

static ssize_t lat_chardev_write(struct file *file, const char __user *from, size_t size,
				 loff_t *pos)
{
	struct lat_reader *reader = file->private_data;
	struct lat_sample sample;
	int err;

	if (size != sizeof(sample))
		return -EINVAL;
	if (copy_from_user(&sample, from, sizeof(sample)))
		return -EFAULT;
	if (sample.seq) {
		if (!READ_ONCE(reader->waits))
			return -EINVAL;
		err = lat_user_stamp(reader, &sample);
	} else {
		if (mutex_lock_interruptible(&reader->lock))
			return -ERESTARTSYS;
		err = lat_user_attach(reader, file, sample.cpu);
		mutex_unlock(&reader->lock);
	}
	return err ?: size;
}

static __poll_t lat_chardev_poll(struct file *file, poll_table *wait)
{
	struct lat_reader *reader = file->private_data;
	__poll_t ready = 0;

	/* The waiter of a CPU blocks in read(): a wait queue cannot be woken from its interrupt. */
	if (READ_ONCE(reader->waits))
		return EPOLLERR;
	poll_wait(file, &reader->lat->stream_wait, wait);
	/* Somebody blocks in read(): he will take what comes. */
	if (!mutex_trylock(&reader->lock))
		return 0;
	if (!reader->stream)
		(void)lat_reader_attach(reader);
	if (reader->stream && lat_reader_can_go_on(reader))
		ready = EPOLLIN | EPOLLRDNORM;
	mutex_unlock(&reader->lock);
	return ready;
}

static const struct file_operations lat_chardev_fops = {
	.owner = THIS_MODULE,
	.open = lat_chardev_open,
	.release = lat_chardev_release,
	.read = lat_chardev_read,
	.write = lat_chardev_write,
	.poll = lat_chardev_poll,
};

/**
 * lat_chardev_init() - make the device
 * @lat: the instrument
 *
 * Context: process, module init.
 * Return: 0 or a negative errno
 */
int lat_chardev_init(struct lat *lat)
{
	unsigned int cpu;
	int err;

	lat->user = kvcalloc(nr_cpu_ids, sizeof(*lat->user), GFP_KERNEL);
	if (!lat->user)
		return -ENOMEM;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		rcuwait_init(&lat->user[cpu].wait);
		mutex_init(&lat->user[cpu].lock);
	}
	init_waitqueue_head(&lat->stream_wait);
	init_irq_work(&lat->stream_irq_work, lat_stream_irq_work);
	INIT_DELAYED_WORK(&lat->stream_work, lat_stream_work);
	lat->misc = (struct miscdevice){
		.minor = MISC_DYNAMIC_MINOR,
		.name = lat->ops->name,
		.fops = &lat_chardev_fops,
		.mode = 0600,
	};
	err = misc_register(&lat->misc);
	if (err)
		kvfree(lat->user);
	return err;
}

/* Context: process, module exit; no file is open, no session runs. */
void lat_chardev_exit(struct lat *lat)
{
	misc_deregister(&lat->misc);
	irq_work_sync(&lat->stream_irq_work);
	cancel_delayed_work_sync(&lat->stream_work);
	kvfree(lat->user);
}
