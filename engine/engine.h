/* attnd's engine: tensors in, tensors out. The one header that other parts include.
 *
 * It knows no HTTP, no environment, no log and no exit. Public names begin with attn_ / ATTN_. Functions that
 * can fail return an attn_code, leave their outputs untouched on failure, and take an attn_error last. A _new
 * is undone by the _free of the same name; every _free(NULL) is fine. */
#ifndef ATTN_ENGINE_H
#define ATTN_ENGINE_H

#include "attention/reference.h"
#include "attention/request.h"
#include "attention/statistics.h"
#include "base/cgroup.h"
#include "base/error.h"
#include "base/size.h"
#include "blas/blas.h"
#include "blas/reference.h"
#include "sched/pool.h"
#include "sched/workspaces.h"
#include "tensor/dtype.h"
#include "tensor/vectors.h"
#include "tensor/view.h"
#include "weights/layer.h"
#include "weights/model.h"
#include "weights/safetensors_header.h"

#endif
