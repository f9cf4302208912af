# The image of attnd: `make image`. The first stage compiles with the Makefile, as on any machine; what is served
# from is the base, six libraries, of which the base has zlib already, and a font for pictures. OpenBLAS is the build
# with threads, though attnd brings its own: the serial one has no locks and computes wrong numbers when two of them
# call at once.
#
# The same sources, base and packages give the same layers, byte for byte: all that a build leaves of its own (logs,
# caches, lists, the time of day) is taken away in the step that made it. Logs are emptied rather than removed: the
# mark of a removed file would bear the hour.
ARG BASE=debian:trixie-slim

FROM ${BASE} AS build
RUN apt-get -q update && apt-get -q -y --no-install-recommends install make
WORKDIR /src
COPY Makefile .
RUN make deps
COPY . .
ARG COMMIT=unknown
ARG SOURCE_DATE_EPOCH=0
# A tree of its own, folders with their times included: copying one file would leave the hour at its folder.
RUN make -j"$(nproc)" GIT_COMMIT="$COMMIT" all \
    && install -D --strip build/release/attnd /image/usr/local/bin/attnd \
    && find /image -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

FROM ${BASE}
ARG SOURCE_DATE_EPOCH=0
RUN touch /begin \
    && apt-get -q update \
    && DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install \
        libjansson4 libmicrohttpd12t64 libopenblas0-pthread zlib1g \
        libcairo2 libpng16-16t64 fonts-dejavu-core \
    && apt-get clean \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /tmp/* \
    && find /var/log /var/cache/ldconfig /var/cache/debconf/*-old /var/lib/dpkg/*-old -type f \
        -exec truncate --size=0 {} + \
    && find / -xdev -newer /begin -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} + \
    && rm /begin
COPY --from=build /image /

ARG VERSION=unknown
ARG COMMIT=unknown
LABEL org.opencontainers.image.title="attnd" \
      org.opencontainers.image.description="Attention inference: outputs and per-head attention maps over HTTP" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT" \
      org.opencontainers.image.base.name="$BASE"

# Any other user works as well: nothing is written.
USER 65532:65532
# Within the container; who reaches it is said where its port is published. `docker stop` kills after 10 seconds: what
# is not answered before is told so.
ENV ATTND_LISTEN=0.0.0.0:8080 ATTND_DRAIN=8
EXPOSE 8080
# While models are loaded, failures do not count.
HEALTHCHECK --interval=5s --timeout=5s --start-period=10m --retries=3 CMD ["attnd", "health"]
ENTRYPOINT ["attnd"]
CMD ["serve"]
