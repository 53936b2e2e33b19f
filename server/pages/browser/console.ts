/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/**
 * Runs SQL on selected rows, by DuckDB in a worker of the browser: Arrow in, CSV out, which has every type as
 * text with all digits. Sent as source, so it must use nothing outside itself.
 */
export function sqlConsole(): void {
  const form = document.querySelector<HTMLFormElement>('form[data-console]')
  const place = document.querySelector<HTMLElement>('[data-result]')
  const status = form?.querySelector<HTMLElement>('[data-status]')
  const text = form?.querySelector('textarea')
  const run = form?.querySelector<HTMLButtonElement>('button:not([type=button])')
  const save = form?.querySelector<HTMLButtonElement>('[data-csv]')
  if (!form || !place || !status || !text || !run || !save) return
  form.hidden = false
  const settings = form.dataset
  const rowsShownMax = 1000

  interface Database {
    readonly execute: (sql: string) => Promise<unknown>
    /** Every value but null is quoted. */
    readonly csv: (sql: string) => Promise<string>
  }

  const openDatabase = async (): Promise<Database> => {
    // Speaks the worker's own protocol, so that pages do not load DuckDB's client library.
    const worker = new Worker(settings['worker'] ?? '')
    const waiting = new Map<number, { resolve: (data: unknown) => void; reject: (error: Error) => void }>()
    let lastId = 0
    worker.addEventListener(
      'message',
      ({ data: answer }: MessageEvent<{ requestId: number; type: string; data: unknown }>) => {
        const request = waiting.get(answer.requestId)
        if (request === undefined || answer.type === 'INSTANTIATE_PROGRESS') return
        waiting.delete(answer.requestId)
        if (answer.type !== 'ERROR') request.resolve(answer.data)
        else request.reject(new Error((answer.data as { message?: string }).message ?? ''))
      },
    )
    const send = (type: string, data: unknown, transferred: Transferable[] = []): Promise<unknown> =>
      new Promise((resolve, reject) => {
        lastId += 1
        waiting.set(lastId, { resolve, reject })
        worker.postMessage({ messageId: lastId, type, data }, transferred)
      })
    worker.addEventListener('error', () => {
      for (const { reject } of waiting.values()) reject(new Error(settings['failed']))
      waiting.clear()
    })
    const [rows] = await Promise.all([
      fetch(settings['rows'] ?? '').then(async (answer) => {
        if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`)
        return new Uint8Array(await answer.arrayBuffer())
      }),
      send('INSTANTIATE', [new URL(settings['module'] ?? '', location.href).href, null]),
    ])
    await send('OPEN', { path: ':memory:' })
    const connection = await send('CONNECT', null)
    const execute = (sql: string): Promise<unknown> => send('RUN_QUERY', [connection, sql])
    // Queries must not load extensions from the network.
    await execute('SET autoinstall_known_extensions = false')
    await execute('SET autoload_known_extensions = false')
    await send(
      'INSERT_ARROW_FROM_IPC_STREAM',
      [connection, rows, { name: settings['table'], create: true }],
      [rows.buffer],
    )
    let resultCount = 0
    return {
      execute,
      csv: async (sql) => {
        // A failed query leaves its file open and empty, so each query has a new file.
        resultCount += 1
        const file = `result-${resultCount}.csv`
        await execute(`COPY (FROM (${sql}\n)) TO '${file}' (FORMAT csv, HEADER, FORCE_QUOTE *, NULLSTR '')`)
        const bytes = (await send('COPY_FILE_TO_BUFFER', file)) as Uint8Array
        await send('DROP_FILE', file)
        return new TextDecoder().decode(bytes)
      },
    }
  }

  const linesOf = (csv: string): (string | null)[][] => {
    const lines: (string | null)[][] = [[]]
    const value = /(?:"((?:[^"]|"")*)"|([^",\n]*))([,\n]|$)/gy
    while (value.lastIndex < csv.length) {
      const match = value.exec(csv)
      if (match === null) break
      const [, quoted, unquoted = '', end] = match
      lines.at(-1)?.push(quoted?.replaceAll('""', '"') ?? (unquoted === '' ? null : unquoted))
      if (end === '\n') lines.push([])
    }
    return lines.filter((line) => line.length > 0)
  }

  const show = ([head = [], ...lines]: (string | null)[][]): void => {
    const table = document.createElement('table')
    const headRow = table.createTHead().insertRow()
    const isNumeric = (value: string | null | undefined): boolean => /^-?\d+(\.\d+)?$/.test(value ?? '')
    for (const [index, name] of head.entries()) {
      const cell = document.createElement('th')
      cell.scope = 'col'
      cell.textContent = name
      const firstFilledLine = lines.find((line) => line[index] !== null)
      if (isNumeric(firstFilledLine?.[index])) cell.className = 'number'
      headRow.append(cell)
    }
    const body = table.createTBody()
    for (const line of lines.slice(0, rowsShownMax)) {
      const bodyRow = body.insertRow()
      for (const value of line) {
        const cell = bodyRow.insertCell()
        cell.textContent = value ?? '–'
        cell.dir = 'auto'
        if (value === null) cell.className = 'null'
        else if (isNumeric(value)) cell.className = 'number'
        else if (/^\d{4}-\d\d-\d\d/.test(value)) cell.className = 'd'
      }
    }
    place.replaceChildren(table)
  }

  /** DuckDB states the line of a fault twice. */
  const errorElement = (message: string): HTMLElement => {
    const part = document.createElement('pre')
    const paragraphs = message.split(/\n(?=LINE \d+:)/).map((paragraph) => paragraph.trimEnd())
    part.textContent = [...new Set(paragraphs)].join('\n\n')
    part.className = 'error'
    return part
  }

  let database: Promise<Database> | undefined
  let csv = ''
  const runSql = async (): Promise<void> => {
    const sql = text.value.trim().replace(/;\s*$/, '')
    run.disabled = true
    save.disabled = true
    try {
      if (database === undefined) {
        status.textContent = settings['starting'] ?? ''
        database = openDatabase()
        database.catch(() => (database = undefined))
      }
      const opened = await database
      status.textContent = settings['running'] ?? ''
      const began = performance.now()
      try {
        csv = await opened.csv(sql)
      } catch (error) {
        // Runs the statement without COPY, to get its own error, or because it is no query.
        await opened.execute(sql)
        if (/^\s*(select|from|with|values|describe|show|summarize|pivot|unpivot|table)\b/i.test(sql))
          throw error
        csv = ''
      }
      const lines = linesOf(csv)
      const count = Math.max(0, lines.length - 1)
      status.textContent = `${settings['took'] ?? ''}: ${count.toLocaleString(document.documentElement.lang)} (${Math.round(performance.now() - began)} ms)`
      show(lines)
      save.disabled = lines.length === 0
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      status.textContent = database === undefined ? message : (settings['wrong'] ?? '')
      place.replaceChildren(...(database === undefined ? [] : [errorElement(message)]))
    }
    run.disabled = false
    // On a phone, the result is below the screen.
    if (place.getBoundingClientRect().top > window.innerHeight * 0.7) status.scrollIntoView()
  }

  // Browsers never send the part after the # to the service.
  const takeAddress = (): void => {
    text.value = new URLSearchParams(location.hash.slice(1)).get('sql') ?? text.value
  }
  takeAddress()
  globalThis.addEventListener('hashchange', takeAddress)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    history.replaceState(null, '', `#sql=${encodeURIComponent(text.value)}`)
    void runSql()
  })
  for (const example of form.querySelectorAll<HTMLButtonElement>('[data-example]')) {
    example.addEventListener('click', () => {
      text.value = example.dataset['example'] ?? ''
      form.requestSubmit()
    })
  }
  text.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit()
  })
  save.addEventListener('click', () => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }))
    link.download = 'result.csv'
    link.click()
    URL.revokeObjectURL(link.href)
  })
  run.disabled = false
}
