/* What this binary was built from. */
#ifndef SRV_VERSION_H
#define SRV_VERSION_H

typedef struct srv_version {
    const char *version;  /* "0.1.0" */
    const char *commit;   /* the git commit's first digits, or "unknown" */
    const char *compiler; /* "gcc 12.2.0" */
} srv_version;

extern const srv_version SRV_VERSION;

#endif
