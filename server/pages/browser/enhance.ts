/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/**
 * Adds a theme, copy buttons, and forms that submit on a change, to pages that also work without scripts.
 * Sent as source, so it must use nothing outside itself.
 */
export function enhance(): void {
  const root = document.documentElement
  const key = 'acervo-light'
  const savedTheme = ((): string | null => {
    try {
      return localStorage.getItem(key)
    } catch {
      return null
    }
  })()
  if (savedTheme === 'light' || savedTheme === 'dark') root.dataset['light'] = savedTheme

  const offerLights = (button: HTMLElement): void => {
    button.hidden = false
    button.addEventListener('click', () => {
      const isDark =
        root.dataset['light'] === 'dark' ||
        (root.dataset['light'] === undefined && matchMedia('(prefers-color-scheme: dark)').matches)
      const next = isDark ? 'light' : 'dark'
      root.dataset['light'] = next
      try {
        localStorage.setItem(key, next)
      } catch {
        // Without storage, the choice applies until the page is left.
      }
    })
  }

  const offerCopy = (code: HTMLElement): void => {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = code.dataset['copy'] ?? ''
    const showLabel = (text: string): void => {
      button.textContent = text
      setTimeout(() => (button.textContent = code.dataset['copy'] ?? ''), 2000)
    }
    button.addEventListener('click', () => {
      const mark = (): void => getSelection()?.selectAllChildren(code)
      // Plain HTTP has no clipboard: select the text instead.
      if (!isSecureContext) mark()
      else
        navigator.clipboard
          .writeText(code.textContent)
          .then(() => showLabel(code.dataset['copied'] ?? ''), mark)
    })
    code.parentElement?.after(button)
  }

  const placeKey = 'acervo-place'
  const sendOnChange = (form: HTMLFormElement): void => {
    for (const button of form.querySelectorAll('button')) button.hidden = true
    for (const choice of form.querySelectorAll('select')) {
      choice.addEventListener('change', () => {
        const place = { path: location.pathname, id: choice.id, top: scrollY }
        sessionStorage.setItem(placeKey, JSON.stringify(place))
        form.requestSubmit()
      })
    }
  }

  // After sorting, the rows keep their horizontal scroll position.
  const keepColumns = (link: HTMLAnchorElement): void => {
    link.addEventListener('click', () => {
      const left = link.closest('.grid')?.scrollLeft ?? 0
      const place = { path: location.pathname, id: '', top: scrollY, left }
      sessionStorage.setItem(placeKey, JSON.stringify(place))
    })
  }

  // After choosing, people return to the same place to choose more.
  const returnToPlace = (): void => {
    const placeJson = sessionStorage.getItem(placeKey)
    if (placeJson === null) return
    sessionStorage.removeItem(placeKey)
    const place = JSON.parse(placeJson) as { path: string; id: string; top: number; left?: number }
    const { path, id, top, left = 0 } = place
    if (path !== location.pathname) return
    scrollTo({ top, behavior: 'instant' })
    document.querySelector('.grid')?.scrollTo({ left, behavior: 'instant' })
    const control = document.getElementById(id)
    control?.focus({ preventScroll: true })
  }

  // Empty fields need not be in the address.
  const omitEmpty = (form: HTMLFormElement): void => {
    form.addEventListener('formdata', (event) => {
      for (const name of new Set(event.formData.keys())) {
        if (event.formData.getAll(name).every((value) => value === '')) event.formData.delete(name)
      }
    })
  }

  /**
   * Values of a control's field and their rows, given the other conditions.
   * @param groupParameter name of the field, in quotes if the parameter `group` requires them
   */
  const groupsOf = async (
    control: HTMLInputElement,
    groupParameter: string,
    parameters: Record<string, string>,
  ): Promise<[value: string, rows: string][]> => {
    const { groups: groupsAddress = '', rows: rowsMeasure = '' } = control.form?.dataset ?? {}
    const field = control.name.replace(/__(eq|in|contains)$/, '')
    const [path = '', conditions] = groupsAddress.split('?')
    const otherConditions = [...new URLSearchParams(conditions)].filter(
      ([name]) => name !== field && !name.startsWith(`${field}__`),
    )
    const groupQuery = { group: groupParameter, measure: rowsMeasure, format: 'json', ...parameters }
    const query = new URLSearchParams([...otherConditions, ...Object.entries(groupQuery)])
    const answer = await fetch(`${path}?${query.toString()}`)
    if (!answer.ok) throw new Error(answer.statusText)
    const { results } = (await answer.json()) as { results: Record<string, string | number>[] }
    return results.map((row) => [String(row[field]), Number(row[rowsMeasure]).toLocaleString(root.lang)])
  }

  const countChoices = (list: HTMLElement): void => {
    const boxes = [...list.querySelectorAll('input')]
    const addCounts = async (): Promise<void> => {
      const [first] = boxes
      if (first === undefined) return
      const counts = new Map(await groupsOf(first, list.dataset['group'] ?? '', { page_size: '1000' }))
      for (const box of boxes) {
        const value = box.value.startsWith('"') ? box.value.slice(1, -1).replaceAll('""', '"') : box.value
        box.parentElement?.append(` (${counts.get(value) ?? 0})`)
      }
    }
    const section = list.closest('details')
    const count = (): void => void addCounts().catch(() => undefined)
    if (section?.open === true) count()
    else section?.addEventListener('toggle', count, { once: true })
  }

  // Once a filter has its maximum of values, people can choose no others.
  const limitChoices = (form: HTMLFormElement): void => {
    const boxes = [...form.querySelectorAll<HTMLInputElement>('[type=checkbox]')]
    const limit = (): void => {
      const isFull = boxes.filter((box) => box.checked).length >= Number(form.dataset['most'])
      for (const box of boxes) box.disabled = isFull && !box.checked
    }
    form.addEventListener('change', limit)
    limit()
  }

  // A suggested value filters by equality, any other text by `contains`.
  const suggestValues = (input: HTMLInputElement): void => {
    const field = input.name.replace(/__(eq|contains)$/, '')
    const containsName = `${field}__contains`
    const list = document.createElement('datalist')
    list.id = `${input.id}-values`
    input.after(list)
    input.setAttribute('list', list.id)
    const suggest = async (): Promise<void> => {
      const { value } = input
      const { rows: rowsMeasure = '' } = input.form?.dataset ?? {}
      const groups = await groupsOf(input, input.dataset['group'] ?? '', {
        ordering: `-${rowsMeasure}`,
        page_size: '10',
        [containsName]: value,
      })
      // An answer may arrive after people have typed on.
      if (input.value !== value) return
      list.replaceChildren(...groups.map(([text, count]) => new Option(count, text)))
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    input.addEventListener('input', () => {
      const isSuggested = [...list.options].some(({ value }) => value === input.value)
      input.name = isSuggested ? `${field}__eq` : containsName
      clearTimeout(timer)
      if (!isSuggested && input.value !== '')
        timer = setTimeout(() => void suggest().catch(() => undefined), 250)
    })
  }

  // A menu closes when people select something outside of it, or press Escape.
  const closeMenus = (isOpen: (menu: HTMLDetailsElement) => boolean): void => {
    for (const menu of document.querySelectorAll<HTMLDetailsElement>('details:is(.menu, .profile)[open]'))
      if (!isOpen(menu)) menu.open = false
  }
  document.addEventListener('click', ({ target }) =>
    closeMenus((menu) => target instanceof Node && menu.contains(target)),
  )
  document.addEventListener('keydown', ({ key: pressed }) => {
    if (pressed !== 'Escape') return
    document.activeElement?.closest('details:is(.menu, .profile)')?.querySelector('summary')?.focus()
    closeMenus(() => false)
  })

  // After "back", forms show the filters of the address.
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return
    for (const form of document.querySelectorAll<HTMLFormElement>('form[autocomplete=off]')) {
      form.reset()
      form.dispatchEvent(new Event('change'))
    }
  })

  document.addEventListener('DOMContentLoaded', () => {
    for (const button of document.querySelectorAll<HTMLElement>('[data-lights]')) offerLights(button)
    for (const code of document.querySelectorAll<HTMLElement>('code[data-copy]')) offerCopy(code)
    for (const input of document.querySelectorAll<HTMLInputElement>('input[data-group]')) suggestValues(input)
    for (const list of document.querySelectorAll<HTMLElement>('ul[data-group]')) countChoices(list)
    for (const form of document.querySelectorAll<HTMLFormElement>('form[data-most]')) limitChoices(form)
    for (const link of document.querySelectorAll<HTMLAnchorElement>('a.sort')) keepColumns(link)
    for (const form of document.querySelectorAll<HTMLFormElement>('form[data-on-change]')) sendOnChange(form)
    for (const form of document.querySelectorAll<HTMLFormElement>('form[method=get]')) omitEmpty(form)
    returnToPlace()
    const tab = document.querySelector<HTMLElement>('.tabs [aria-current]')
    const tabs = tab?.closest('.tabs')
    if (tab && tabs) tabs.scrollLeft = tab.offsetLeft - tabs.clientWidth / 2
  })
}
