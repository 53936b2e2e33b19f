export const catalogTemplate = `# The datasets that this service publishes. docs/reference/catalog.md of Acervo describes all keys.
# \`acervo add rain.csv\` adds a table to it.

title: Open data
description: Open data, as an API and as pages.

# Publisher and contact of the service:
# publisher: { name: Weather Service, url: 'https://example.org/' }
# contact: { name: Open data desk, email: data@example.org }

# Limits per client: requests in a window of time.
limits:
  rows:
    - { requests: 60, per: 1m }
    - { requests: 1000, per: 1h }
  catalog:
    - { requests: 300, per: 1m }

# Addresses of the API, below PUBLIC_URL.
families:
  v1: { prefix: /api/v1, scheme: public, trailing_slash: true }

datasets: []
`

/** Snapshots and local copies are made from the sources, so git ignores them. */
export const ignoreTemplate = `/warehouse/
/.local/
`

export const readmeTemplate = (title: string): string => `# ${title}

Open data, published with Acervo.

\`\`\`sh
acervo add rain.csv --dataset=weather   # adds a table to catalog.yaml, and publishes it
acervo check                            # validates the catalog and the sources
acervo ingest                           # publishes changed sources
acervo serve                            # http://localhost:8000
\`\`\`

- \`catalog.yaml\` describes the datasets. Edit it to add titles, descriptions, authors and licences.
- \`sources/<dataset>/<table>.csv\` are the files that are published.
- \`warehouse/\` has the published snapshots. An ingest makes them, so they are not in git.
- \`.github/workflows/refresh.yaml\` checks pull requests, and refreshes the data every night.
  It installs the package of Acervo that \`make package\` makes: commit it here, or name its address in the
  variable \`ACERVO_PACKAGE\` of the repository.
`

export const workflowTemplate = (version: string): string => `name: refresh
on:
  pull_request:
  schedule:
    - cron: '17 3 * * *'
  workflow_dispatch:
permissions:
  contents: read
concurrency: refresh
env:
  # An object store such as s3://bucket/warehouse, with the usual AWS variables; else the cache of the workflow.
  WAREHOUSE: \${{ vars.WAREHOUSE || 'warehouse' }}
  AWS_ACCESS_KEY_ID: \${{ secrets.AWS_ACCESS_KEY_ID }}
  AWS_SECRET_ACCESS_KEY: \${{ secrets.AWS_SECRET_ACCESS_KEY }}
  AWS_REGION: \${{ vars.AWS_REGION }}
  AWS_ENDPOINT_URL_S3: \${{ vars.AWS_ENDPOINT_URL_S3 }}
jobs:
  refresh:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-node@v5
        with:
          node-version: '24'
      # See README.md for the package.
      - run: npm install --global "\${{ vars.ACERVO_PACKAGE || './acervo-${version}.tgz' }}"
      - uses: actions/cache@v4
        with:
          path: warehouse
          key: warehouse-\${{ github.run_id }}
          restore-keys: warehouse-
      - name: Check the catalog and the sources
        run: acervo check --format=markdown | tee -a "$GITHUB_STEP_SUMMARY"
        shell: bash
      - name: Publish changed sources
        if: github.event_name != 'pull_request'
        run: acervo ingest
`
