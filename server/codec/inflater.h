/* Bodies that come compressed: a decoder that unpacks for the one of the body's format. */
#ifndef SRV_CODEC_INFLATER_H
#define SRV_CODEC_INFLATER_H

#include "coding.h"
#include "decoder.h"

/* Collects the packed bytes as they come; unpacking, which may be any multiple of the work of receiving, is left to the
 * end and thus to a worker. More than `most` bytes of text are SRV_BODY_TOO_LARGE, told while unpacking; what is no such
 * stream, or less or more than one, is SRV_BAD_BODY with the offset among the packed bytes. gzip may have several
 * members, which are read as one. The rest as for srv_decoder_new. */
srv_decoder *srv_inflater_new(srv_coding coding, size_t most, const srv_codec *codec, srv_budget *budget,
                              size_t max_text);

#endif
