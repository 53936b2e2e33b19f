/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/**
 * Shows values under the pointer, and offers charts as PNG. Sent as source, so it must use nothing outside
 * itself.
 */
export function chartScript(): void {
  // The browser draws the picture, so that the server needs no fonts.
  const offerPng = (link: HTMLAnchorElement): void => {
    if (link.parentElement !== null) link.parentElement.hidden = false
    link.addEventListener('click', (event) => {
      event.preventDefault()
      const picture = new Image()
      picture.addEventListener('load', () => {
        const canvas = document.createElement('canvas')
        canvas.width = 2 * picture.naturalWidth
        canvas.height = 2 * picture.naturalHeight
        canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height)
        canvas.toBlob((blob) => {
          if (blob === null) return
          const downloadLink = document.createElement('a')
          downloadLink.href = URL.createObjectURL(blob)
          downloadLink.download = link.download
          downloadLink.click()
        })
      })
      picture.src = link.href
    })
  }

  // Pointer, finger and focus show values; arrow keys move along a line.
  const showValues = (chart: SVGSVGElement): void => {
    const tip = document.createElement('output')
    tip.className = 'tip'
    tip.hidden = true
    chart.after(tip)
    const parts = [...chart.querySelectorAll<SVGElement>(':scope * > title')].map((title) => {
      const part = title.parentElement as SVGElement | null
      if (part !== null) part.dataset['values'] = title.textContent
      // Else the browser would also show its own tip.
      title.remove()
      return part
    })
    const showTip = (part: Element | null | undefined): void => {
      tip.hidden = part == null
      if (!(part instanceof SVGElement)) return
      tip.textContent = part.dataset['values'] ?? ''
      const chartBox = (tip.parentElement ?? chart).getBoundingClientRect()
      const box = part.getBoundingClientRect()
      const { offsetWidth: width, offsetHeight: height } = tip
      // To keep a line's points visible, the tip stands beside them; it stands above other parts.
      const isOnLine = part.classList.contains('reach')
      const isLeft = box.left - chartBox.left < chartBox.width / 2
      const beside = isLeft ? box.right + 12 : box.left - width - 12
      const left = (isOnLine ? beside : box.left + box.width / 2 - width / 2) - chartBox.left
      tip.style.left = `${Math.max(0, Math.min(left, chartBox.width - width))}px`
      tip.style.top = `${isOnLine ? box.top - chartBox.top : Math.max(0, box.top - chartBox.top - height - 4)}px`
    }
    const partAt = ({ clientX, clientY }: PointerEvent): Element | null | undefined =>
      document.elementFromPoint(clientX, clientY)?.closest('[data-values]')
    for (const type of ['pointerdown', 'pointermove'] as const)
      chart.addEventListener(type, (event) => showTip(partAt(event)))
    // Lifting a finger also fires `pointerleave`, but the tip should stay.
    chart.addEventListener('pointerleave', ({ pointerType }) => {
      if (pointerType === 'mouse') showTip(null)
    })
    chart.addEventListener('focusin', ({ target }) => {
      if (target !== chart) showTip((target as Element).closest('[data-values]'))
    })
    chart.addEventListener('focusout', () => showTip(null))
    if (chart.querySelector('.reach') === null) return
    let currentIndex = parts.length - 1
    chart.tabIndex = 0
    chart.addEventListener('keydown', ({ key: pressed }) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[pressed]
      if (step === undefined) return
      currentIndex = Math.max(0, Math.min(currentIndex + step, parts.length - 1))
      showTip(parts[currentIndex])
    })
  }

  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-png]')) offerPng(link)
  for (const chart of document.querySelectorAll<SVGSVGElement>('svg.chart')) showValues(chart)
}
