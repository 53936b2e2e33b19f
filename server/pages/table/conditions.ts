import { isNumber, isTime, valueText } from '../../documents/words/value-text.ts'
import { stateNames } from '../../documents/words/state-names.ts'
import { titleOf } from '../../documents/words/titles.ts'
import type { Field } from '../../../core/catalog/catalog.ts'
import { parameterFor } from '../../query/conditions.ts'
import { isParameterName } from '../../query/query.ts'
import { formatList } from '../../query/list.ts'
import { rowsName } from '../../query/measures.ts'
import type { QueryParameters } from '../../query/parameters.ts'
import { formatWords } from '../../query/search-terms.ts'
import { readValue, operatorsOf } from '../../query/operators.ts'
import { html, type Html, noticePart } from '../html.ts'
import type { PageContext } from '../frame.ts'
import { rowAddresses, type PageService } from '../service.ts'
import { describeCondition, searchText } from '../../documents/words/filter-text.ts'
import { writtenIn } from '../../documents/words/number-formats.ts'
import type { Words } from '../../documents/words/en.ts'
import { withParameters, parameterOf, queryLink, type QueryView } from './view.ts'

/**
 * Conditions with links that remove them.
 * @param extraParameters further parameters of the address to keep
 */
export function chipsPart(
  { words }: PageContext,
  view: QueryView,
  extraParameters: readonly (readonly [name: string, value: string])[] = [],
): Html | null {
  const linkTo = (parameters: QueryParameters): string =>
    queryLink(new Map([...parameters, ...extraParameters]))
  const { query } = view
  const chips = query.conditions.map((condition) => ({
    label: describeCondition(condition, words),
    parameter: parameterOf(view, condition.field.name, condition.operator),
  }))
  if (query.words.length > 0) chips.push({ label: searchText(query.words, words), parameter: 'search' })
  if (chips.length === 0) return null
  return html`<ul class="chips" aria-label="${words.filters}">
    ${chips.map(
      ({ label, parameter }) =>
        html`<li>
          <span>${label}</span>
          <a href="${linkTo(withParameters(view, { [parameter]: null }))}" aria-label="${words.remove(label)}"
            >×</a
          >
        </li>`,
    )}
    <li class="reset"><a href="${linkTo(withoutConditions(view))}">${words.reset}</a></li>
  </ul>`
}

function withoutConditions(view: QueryView): QueryParameters {
  const names = view.query.conditions.map(({ field, operator }) => parameterOf(view, field.name, operator))
  return withParameters(view, Object.fromEntries(['search', ...names].map((name) => [name, null])))
}

/** Notice that no row matches, with a link that removes all conditions. */
export function emptyPart(
  { words }: PageContext,
  view: QueryView,
  extraParameters: readonly (readonly [name: string, value: string])[] = [],
): Html {
  const { query } = view
  const isFiltered = query.conditions.length > 0 || query.words.length > 0
  const unfiltered = queryLink(new Map([...withoutConditions(view), ...extraParameters]))
  return noticePart(words.nothing, isFiltered ? [[words.reset, unfiltered]] : [])
}

export function filterMenu(
  service: PageService,
  view: QueryView,
  action: string,
  extraParameters: readonly (readonly [name: string, value: string])[] = [],
): Html | null {
  const form = filterForm(service, view, action, extraParameters)
  if (form === null) return null
  return html`<details class="menu filter">
    <summary>+ ${service.context.words.filter}</summary>
    ${form}
  </details>`
}

/**
 * One section a field: a list for few values, a text input for texts, otherwise a range.
 * @param extraParameters further parameters of the address to keep
 */
function filterForm(
  service: PageService,
  view: QueryView,
  action: string,
  extraParameters: readonly (readonly [name: string, value: string])[] = [],
): Html | null {
  const { words } = service.context
  const { table } = view
  const filterFields = table.fields.filter(({ name }) => table.filters.includes(name))
  if (filterFields.length === 0 && table.search.length === 0) return null
  const sections = filterFields.map((field) => ({
    field,
    controls: [
      controlOf(field, view, words),
      ...(nullsOf(view, field) > 0 ? [nullControl(field, view, words)] : []),
    ],
  }))
  const controlNames = new Set([
    'search',
    ...sections.flatMap(({ controls }) => controls.flatMap((control) => control.parameters)),
  ])
  return html`<form
    class="filters"
    action="${action}"
    method="get"
    autocomplete="off"
    data-groups="${groupsAddress(service, view)}"
    data-rows="${rowsName(table)}"
  >
    ${hiddenInputs(view, controlNames)} ${extraParameters.map(([name, value]) => hiddenInput(name, value))}
    ${table.search.length > 0 && searchControl(view, words)}
    <div class="sections">${sections.map((section) => sectionPart(section, view, words))}</div>
    <button>${words.apply}</button>
  </form>`
}

/** Address of values and their matching rows, for a script. */
export function groupsAddress(service: PageService, view: QueryView): string {
  const { dataset, table } = view
  const matching = withParameters(view, { page_size: null, format: null, fields: null, ordering: null })
  return new URL(rowAddresses(service).aggregate(dataset, table)).pathname + queryLink(matching)
}

function sectionPart(
  { field, controls }: { readonly field: Field; readonly controls: readonly Control[] },
  { query }: QueryView,
  words: Words,
): Html {
  const condition = query.conditions.find((item) => item.field === field)
  return html`<details ${condition !== undefined && html` open`}>
    <summary>
      ${condition === undefined ? titleOf(field) : html`<strong>${describeCondition(condition, words)}</strong>`}
    </summary>
    ${controls.map(({ control }) => control)}
  </details>`
}

function searchControl(view: QueryView, words: Words): Html {
  return html`<p class="control">
    <label for="search">${words.search}</label>
    <input
      id="search"
      name="search"
      type="search"
      value="${formatWords(view.query.words)}"
      placeholder="${words.searchIn(searchedTitles(view, words))}"
    />
  </p>`
}

function searchedTitles({ table }: QueryView, words: Words): string {
  const titles = table.fields.filter(({ name }) => table.search.includes(name)).map(titleOf)
  return writtenIn(words).list(titles)
}

/** Keeps parameters without a control when the form is submitted. */
export function hiddenInputs({ query }: Pick<QueryView, 'query'>, ownNames: ReadonlySet<string>): Html[] {
  return [...query.parameters]
    .filter(([name]) => !ownNames.has(name))
    .map(([name, text]) => hiddenInput(name, text))
}

function hiddenInput(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}" />`
}

interface Control {
  readonly parameters: readonly string[]
  readonly control: Html
}

function controlOf(field: Field, view: QueryView, words: Words): Control {
  const choices = view.snapshot.choices.get(field.name)
  const id = `f-${field.name}`
  const title = titleOf(field)
  const valueFor = (operator: string): string => valueOf(view, field, operator)
  if (!isTime(field) && choices !== undefined && choices.length > 0) {
    const names = [field.name, `${field.name}__eq`, `${field.name}__in`]
    return { parameters: names, control: choicesPart(field, view, words) }
  }
  if (!isTime(field) && operatorsOf(field).includes('contains')) {
    const contains = `${field.name}__contains`
    const [equalText, text] = [valueFor('eq'), valueFor('contains')]
    const isEqual = text === '' && equalText !== ''
    const [name, value] = isEqual
      ? parameterFor({ field, operator: 'eq', values: [equalText] }, isParameterName)
      : [contains, text]
    return {
      parameters: [name, contains, ...(isEqual ? [field.name, `${field.name}__eq`] : [])],
      control: html`<p class="control">
        <label for="${id}"><span class="unseen">${title}</span> ${words.contains}</label>
        <input id="${id}" name="${name}" value="${value}" data-group="${formatList([field.name])}" />
      </p>`,
    }
  }
  return {
    parameters: [`${field.name}__gte`, `${field.name}__lte`],
    control: html`<fieldset class="control">
      <legend class="unseen">${title}</legend>
      <label for="${id}">${words.from}</label>
      ${boundInput(words, field, id, `${field.name}__gte`, valueFor('gte'))}
      <label for="${id}-to">${words.to}</label>
      ${boundInput(words, field, `${id}-to`, `${field.name}__lte`, valueFor('lte'))}
    </fieldset>`,
  }
}

export function choicesPart(
  field: Field,
  { query, snapshot }: Pick<QueryView, 'query' | 'snapshot'>,
  words: Words,
): Html {
  const conditions = query.conditions.filter(
    (item) => item.field === field && (item.operator === 'eq' || item.operator === 'in'),
  )
  const values = new Set(conditions.flatMap((condition) => condition.values))
  const choices = (snapshot.choices.get(field.name) ?? []).flatMap((text) => readValue(field, text) ?? [])
  // Show a selected value even if it does not occur.
  const offeredValues = writtenIn(words).inOrder(
    [...new Set([...choices, ...values])].filter((value) => value !== ''),
  )
  const name = `${field.name}__in`
  const state = (value: string): string => {
    const stateName = field.kind === 'uf' ? stateNames.get(value) : undefined
    return stateName === undefined ? '' : `, ${stateName}`
  }
  return html`<ul class="choices" data-group="${formatList([field.name])}">
    ${offeredValues.map(
      (value) =>
        html`<li>
          <label
            ><input
              type="checkbox"
              name="${name}"
              value="${formatList([value])}"
              ${values.has(value) && 'checked'}
            />
            ${valueText(words, field, value)}${state(value)}</label
          >
        </li>`,
    )}
  </ul>`
}

function nullsOf({ snapshot }: QueryView, { name }: Field): number {
  return snapshot.report?.fields.find((field) => field.name === name)?.nulls ?? 0
}

function nullControl(field: Field, view: QueryView, words: Words): Control {
  const name = `${field.name}__isnull`
  const isChosen = valueOf(view, field, 'isnull') === 'true'
  // A report counts all rows.
  const isOfAllRows = view.query.conditions.length === 0 && view.query.words.length === 0
  const count = isOfAllRows ? ` (${writtenIn(words).count(nullsOf(view, field))})` : ''
  return {
    parameters: [name],
    control: html`<label class="control-null"
      ><input type="checkbox" name="${name}" value="true" ${isChosen && 'checked'} />
      ${words.isNull(titleOf(field))}${count}</label
    >`,
  }
}

export function optionPart(value: string, isChosen: boolean, text = value): Html {
  // Omit `value` where it is redundant: browsers then submit the text, with normalized white space.
  const isItsText = value === text.replaceAll(/\s+/g, ' ').trim()
  const valueAttribute = isItsText ? null : html` value="${value}"`
  return html`<option${valueAttribute}${isChosen ? ' selected' : ''}>${text}</option>`
}

function boundInput(words: Words, field: Field, id: string, name: string, value: string): Html {
  const { type, kind } = field
  const isDay = type === 'date' || kind === 'date'
  if (isDay && /^(\d{4}-\d\d-\d\d)?$/.test(value))
    return html`<input id="${id}" type="date" name="${name}" value="${value}" />`
  if (type === 'datetime' && !value.includes('.')) {
    const inputValue = value.replace(' ', 'T')
    return html`<input id="${id}" type="datetime-local" step="1" name="${name}" value="${inputValue}" />`
  }
  return isNumber(field)
    ? html`<input id="${id}" inputmode="decimal" name="${name}" value="${writtenIn(words).digits(value)}" />`
    : html`<input id="${id}" name="${name}" value="${value}" />`
}

function valueOf({ query }: QueryView, { name }: Field, operator: string): string {
  const condition = query.conditions.find((item) => item.field.name === name && item.operator === operator)
  return condition?.values[0] ?? ''
}
