/* Which kernels for few rows run here (few.h): those of the row kernels' vector width. */
#include "few.h"

#include "rows.h"

static const attn_few_kernels *beside(const attn_row_kernels *rows) {
#ifdef __x86_64__
    if (rows == &ATTN_ROWS_AVX512) return &ATTN_FEW_AVX512;
    if (rows == &ATTN_ROWS_AVX2) return &ATTN_FEW_AVX2;
#endif
    (void)rows;
    return &ATTN_FEW_PLAIN;
}

size_t attn_few_kernels_all(const attn_few_kernels *out[ATTN_FEW_KERNELS_MOST]) {
    const attn_row_kernels *rows[ATTN_ROW_KERNELS_MOST];
    size_t count = attn_row_kernels_all(rows);
    for (size_t i = 0; i < count; i++)
        out[i] = beside(rows[i]);
    return count;
}

const attn_few_kernels *attn_few_kernels_in_use(void) {
    return beside(attn_row_kernels_in_use());
}
