import { croissant } from './dataset/croissant.ts'
import { dataPackage } from './dataset/data-package.ts'
import { linkset } from './dataset/linkset.ts'
import { schemaOrg } from './dataset/schema-org.ts'
import { dcatJsonLd, dcatTurtle } from './dcat.ts'
import type { DatasetDocument, TableDocument, WholeDocument } from './document.ts'
import { arrowSchema } from './table/arrow-schema.ts'
import { csvw } from './table/csvw.ts'
import { ddl } from './table/ddl.ts'
import { jsonSchema } from './table/json-schema.ts'
import { python, typescript } from './table/types.ts'
import { apiCatalog } from './whole/api-catalog.ts'
import { llms } from './whole/llms.ts'
import { openSearch } from './whole/opensearch.ts'
import { robots } from './whole/robots.ts'

/** Documents without routes of their own, unlike the sitemap, feeds and DCAT. */
export const serviceDocuments: readonly WholeDocument[] = [apiCatalog, robots, llms, openSearch]
/** Targets of `rel="describedby"`. */
export const descriptions: readonly DatasetDocument[] = [
  dcatJsonLd,
  dcatTurtle,
  croissant,
  dataPackage,
  schemaOrg,
]
export const datasetDocuments: readonly DatasetDocument[] = [...descriptions, linkset(descriptions)]
export const tableDocuments: readonly TableDocument[] = [
  jsonSchema,
  csvw,
  arrowSchema,
  ddl,
  typescript,
  python,
]
