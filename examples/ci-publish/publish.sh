#!/usr/bin/env bash
# Publishes the SOPs of the folder sops with pds, and commits the ids and versions that it writes into the folder.
# `publish.sh --dry-run` only says what would happen. Needs PDS_URL and PDS_KEY.
set -euo pipefail

if [ "${1:-}" = --dry-run ]; then
  exec pds push sops --revise --publish --dry-run
fi

status=0
pds push sops --revise --publish || status=$?

# also after a failure, so that the next run does not create a document a second time
git add --all sops
if ! git diff --cached --quiet; then
  git commit --quiet --message 'Record published SOPs'
  # somebody may have pushed during the run
  git pull --quiet --rebase
  git push --quiet
fi
exit "$status"
