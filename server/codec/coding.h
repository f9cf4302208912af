/* Content codings (RFC 9110, 8.4.1): how bytes of a body or an answer are packed. */
#ifndef SRV_CODEC_CODING_H
#define SRV_CODEC_CODING_H

typedef enum srv_coding {
    SRV_CODING_IDENTITY, /* as they are */
    SRV_CODING_GZIP,     /* RFC 1952 */
    SRV_CODING_DEFLATE,  /* RFC 1950: a zlib stream */
} srv_coding;

#endif
