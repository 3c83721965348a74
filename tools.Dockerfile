# Windlass with provisioning tools beside it, which the manager starts as processes (see docs/guide/cluster.md). Here it is RKE:
#
#   make bin/rke
#   docker build --tag windlass-tools:dev --file tools.Dockerfile .
#
# A tool must be a static program, because there is nothing else in the image: use another base image for one that is not.
ARG WINDLASS=windlass:dev
FROM ${WINDLASS}
COPY bin/rke /usr/local/bin/rke
