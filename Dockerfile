# Such an image as "make image" writes, for those who build with an engine:
#
#   make build rootfs
#   docker build --tag windlass:dev .
#
# There is nothing in it but a static program and the files of dist/rootfs: a user, certificates of public authorities, the licence, and a
# folder that the user may write to. It needs no root, and may be run with a root file system that is read-only.
FROM scratch
COPY --chown=65532:65532 dist/rootfs/var/lib/ /var/lib/
COPY dist/rootfs/etc/ /etc/
COPY dist/rootfs/licenses/ /licenses/
COPY bin/windlass /usr/local/bin/windlass
ENV PATH=/usr/local/bin:/usr/bin:/bin
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/windlass"]
