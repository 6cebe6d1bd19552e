/* SPDX-License-Identifier: GPL-2.0-only */
/* Of this kernel header the families need what shim.h has. */
#include "../shim.h"
