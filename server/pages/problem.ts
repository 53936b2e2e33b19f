import { searchForm } from './search/results.ts'
import { type Language, languages } from '../../core/catalog/names.ts'
import { problemRows, type ProblemCode, type WholeTable, type ProblemFormat } from '../http/problems.ts'
import type { ParameterError } from '../query/errors.ts'
import { framed, type PageContext } from './frame.ts'
import { html, type Html, textOf } from './html.ts'
import { writtenIn } from '../documents/words/number-formats.ts'
import type { IncomingHttpHeaders } from 'node:http'
import { pageHeaders } from '../http/headers.ts'
import { languageFor } from '../documents/words/all.ts'
import { parametersOf } from '../query/parameters.ts'
import { targetOf, type Target } from '../query/conditions.ts'
import { isOperator } from '../query/operators.ts'
import { termTitle, titleOf } from '../documents/words/titles.ts'
import type { Dataset, Table } from '../../core/catalog/catalog.ts'
import { pagePolicy, contextFor, type PageContexts } from './service.ts'
import { trailTo } from './table/tabs.ts'

interface ProblemView {
  readonly code: ProblemCode
  readonly detail: string
  readonly instance: string
  /** Seconds until a retry is worthwhile; null if unknown. */
  readonly retrySeconds: number | null
  /** Offered instead of a refused request; null if there is none. */
  readonly wholeTable: WholeTable | null
  readonly errors: readonly ParameterError[]
  readonly parameters: readonly (readonly [name: string, text: string])[]
  /** Current version, if the requested one has expired. */
  readonly latest: string | null
  /** Problems of the API show English details in every language. */
  readonly isOfApi: boolean
  /** The address is that of a row. */
  readonly isOfRow: boolean
  readonly inLanguage: (language: Language) => string
  readonly dataset: Dataset | null
  readonly table: Table | null
}

const correctedMax = 100

function problemPage(context: PageContext, view: ProblemView): Html {
  const { addresses, language, words } = context
  const { code, detail, instance, retrySeconds, wholeTable, errors, latest, dataset, table } = view
  const hasSearchForm = !view.isOfApi && problemRows[code].status === 404
  const isMissingRow = view.isOfRow && code === 'invalid-page'
  const title = isMissingRow ? words.noSuchRow : words.problems[code]
  const advice = isMissingRow ? undefined : words.advice[code]
  const main = html`
    <h1>${title}</h1>
    ${advice !== undefined && html`<p class="lead">${advice}</p>`}
    ${code === 'not-published' && dataset !== null && html`<p><a href="${addresses.dataset(language, dataset)}">${dataset.name}</a></p>`}
    ${isMissingRow && table !== null && html`<p><a href="${addresses.table(language, table)}">${titleOf(table)}</a></p>`}
    ${retrySeconds !== null && code !== 'not-published' && html`<p>${words.tryAgainIn(writtenIn(words).count(retrySeconds))}</p>`}
    ${wholeTable !== null && insteadPart(context, wholeTable)}
    ${
      errors.length > 0
        ? correctionForm(context, view)
        : isDetailShown(view, language) && html`<p lang="en">${detail}</p>`
    }
    ${hasSearchForm && searchForm(context, '')}
    ${latest !== null && html`<p><a href="${latest}">${words.latestVersion}</a></p>`}
    ${errors.length > 0 && !view.isOfApi && html`<p><a href="./">${words.withoutThese}</a></p>`}
    ${code === 'invalid-page' && !isMissingRow && html`<p><a href="?${firstPageQuery(view)}">${words.toFirstPage}</a></p>`}
    <p><a href="${addresses.home(language)}">${words.backHome}</a></p>
    <p class="facts">${problemRows[code].status} · <code>${code}</code> · <code>${instance}</code></p>
  `
  return framed(context, {
    title,
    main,
    hasSearchForm,
    inLanguage: view.inLanguage,
    ...(dataset !== null && { trail: trailTo(context, dataset, table ?? undefined) }),
  })
}

function firstPageQuery({ parameters }: ProblemView): string {
  return new URLSearchParams(
    parameters.filter(([name]) => name !== 'page').map((pair) => [...pair]),
  ).toString()
}

/** The detail is English: pages in other languages hide it, and all pages hide details for operators. */
function isDetailShown({ code, isOfApi }: ProblemView, language: Language): boolean {
  return isOfApi || (language === 'en' && code !== 'not-published' && !code.startsWith('unknown-'))
}

function correctionForm(
  { language, words }: PageContext,
  { errors, parameters, isOfApi, table }: ProblemView,
): Html {
  const targetFor = (parameter: string): Target | null =>
    isOfApi || table === null ? null : targetOf(table, parameter)
  const titleFor = (parameter: string): string => {
    const target = targetFor(parameter)
    if (target !== null) return termTitle(words, target.field)
    const titles: Readonly<Record<string, string>> = words.parameterTitles
    return titles[parameter] ?? parameter
  }
  const messageOf = ({ parameter, message, reason }: ParameterError): string => {
    if (isOfApi) return message
    const title = titleFor(parameter)
    switch (reason) {
      case undefined:
        return language === 'en' ? message : words.notUnderstood(title)
      case 'unknown-parameter':
        return words.unknownParameter(parameter)
      case 'not-a-filter':
        return words.notAFilter(title, filtersOf(table))
      case 'unknown-name':
        return words.unknownName(title, parameters.find(([name]) => name === parameter)?.[1] ?? '')
      default:
        return words.mustBe(title, words.values[reason])
    }
  }
  const labelOf = (parameter: string): string => {
    const title = titleFor(parameter)
    const operator = targetFor(parameter)?.operator ?? 'eq'
    return operator === 'eq' || !isOperator(operator) ? title : words.conditions[operator](title, '…')
  }
  const correctableParameters = parameters.filter(
    ([name]) => isOfApi || !errors.some((error) => error.parameter === name && isUncorrectable(error)),
  )
  const correctableNames = new Set(correctableParameters.map(([name]) => name))
  return html`<form class="correction" method="get">
    ${errors
      .filter(({ parameter }) => !correctableNames.has(parameter))
      .map((error) => html`<p role="alert">${messageOf(error)}</p>`)}
    ${correctableParameters.slice(0, correctedMax).map(([name, text], index) => {
      const error = errors.find(({ parameter }) => parameter === name)
      return html`<p class="control">
        <label for="asked-${index}">${labelOf(name)}</label>
        <input
          id="asked-${index}"
          name="${name}"
          value="${text}"
          ${error !== undefined && html`aria-invalid="true" aria-describedby="error-${index}"`}
        />
        ${error !== undefined && html`<span id="error-${index}" role="alert">${messageOf(error)}</span>`}
      </p>`
    })}
    ${correctableParameters.length > 0 && html`<button>${words.apply}</button>`}
  </form>`
}

function isUncorrectable({ reason }: ParameterError): boolean {
  return reason === 'unknown-parameter' || reason === 'not-a-filter' || reason === 'unknown-name'
}

function filtersOf(table: Table | null): string[] {
  return (table?.fields ?? []).filter(({ name }) => table?.filters.includes(name)).map(titleOf)
}

function insteadPart({ words }: PageContext, { file, duckdb }: WholeTable): Html {
  return html`<p>
      <a href="${file.address}">${words.wholeTable}: CSV (gzip)</a>
      <span class="facts">${writtenIn(words).bytes(file.bytes)}</span>
    </p>
    <pre><code>${duckdb}</code></pre>`
}

/** Shows errors as pages, in the language of the address or of the browser. */
export function problemForms(
  contexts: PageContexts,
): (target: string, headers: IncomingHttpHeaders) => ProblemFormat {
  return (target, headers) => {
    const [, first] = target.split('/', 2)
    const language = languages.find((code) => code === first) ?? languageFor(headers['accept-language'])
    return htmlProblemFormat(contextFor(contexts, language), target)
  }
}

function decodableParameters(target: string): readonly (readonly [string, string])[] {
  try {
    return parametersOf(target)
  } catch {
    return []
  }
}

function htmlProblemFormat(context: PageContext, target: string): ProblemFormat {
  return {
    mediaType: 'text/html; charset=utf-8',
    headers: pageHeaders(pagePolicy, context.words.locale),
    text: ({ code, message, extras: { headers, wholeTable = null, errors = [] } }, instance) => {
      const wait = headers?.['Retry-After']
      const retrySeconds = wait === undefined ? null : Number(wait)
      const [, latest = null] = /^<([^<>]+)>; rel="latest-version"/.exec(headers?.['Link'] ?? '') ?? []
      const isPage = languages.some((language) => target.startsWith(`/${language}/`))
      const isBelowApi = context.catalog.families.some(({ prefix }) => target.startsWith(`${prefix}/`))
      // Any address may be unknown; other problems outside pages are the API's.
      const isOfApi = code === 'unknown-address' ? isBelowApi : !isPage
      // Addresses of tables begin with `/<language>/dataset/<slug>/<name>`.
      const [, , , slug = '', name = '', aspect = ''] = target.split(/[/?]/)
      const dataset = isPage ? (context.catalog.datasets.get(slug) ?? null) : null
      return textOf(
        problemPage(context, {
          code,
          detail: message,
          instance,
          retrySeconds,
          wholeTable,
          errors,
          parameters: decodableParameters(target),
          latest,
          isOfApi,
          isOfRow: aspect === 'row',
          inLanguage: (language) => {
            const home = context.addresses.home(language)
            return isPage ? target.replace(/^\/[a-z]+\//, home) : home
          },
          dataset,
          table: dataset?.tables.get(name) ?? null,
        }),
      )
    },
  }
}
