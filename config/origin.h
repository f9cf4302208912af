/* Which names of hosts and origins of web pages can be met in a request: any other would never match. Pure; any
 * thread. */
#ifndef CFG_ORIGIN_H
#define CFG_ORIGIN_H

#include <stdbool.h>

/* Whether a Host header can bear it, without port (RFC 9110, section 7.2): a name or an IPv4 address, an IPv6 address
 * in brackets, or "*". */
bool cfg_is_host(const char *text);

/* NULL where an Origin header can match it: an origin as browsers serialize it
 * (https://html.spec.whatwg.org/#ascii-serialisation-of-an-origin; letters of either case), one that ends in ":*" for
 * its port, "null" or "*". Otherwise what would be accepted, static storage. */
const char *cfg_origin_wanted(const char *text);

#endif
