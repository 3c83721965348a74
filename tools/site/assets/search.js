// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// The search box. The index and what searches it are files beside the pages: nothing is asked of another host.

const dialog = document.getElementById('search')
const input = dialog.querySelector('input')
const status = dialog.querySelector('[role=status]')
const list = dialog.querySelector('ol')
const button = document.getElementById('search-open')
const shown = 12

let pagefind
async function engine() {
  if (!pagefind) {
    pagefind = await import(new URL(dialog.dataset.bundle, document.baseURI).href)
    await pagefind.init()
  }
  return pagefind
}

function open() {
  if (!dialog.open) dialog.showModal()
  input.select()
  // Also says early that the index is missing.
  engine().catch(() => { status.textContent = dialog.dataset.missing })
}

function entry(result) {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = result.url
  link.textContent = result.title
  const excerpt = document.createElement('p')
  // An excerpt is text with <mark> around what was found. It is taken apart, because it is not HTML of ours.
  const parsed = new DOMParser().parseFromString(result.excerpt, 'text/html')
  for (const node of parsed.body.childNodes) {
    if (node.nodeName === 'MARK') {
      const mark = document.createElement('mark')
      mark.textContent = node.textContent
      excerpt.append(mark)
    } else {
      excerpt.append(node.textContent)
    }
  }
  item.append(link, excerpt)
  return item
}

// parts returns what to show of a page: the section that fits best, under the title of the page.
function parts(page) {
  const best = page.sub_results?.slice().sort((a, b) => b.locations.length - a.locations.length)[0]
  if (!best) return { url: page.url, title: page.meta.title, excerpt: page.excerpt }
  const title = best.title === page.meta.title ? best.title : `${page.meta.title}: ${best.title}`
  return { url: best.url, title, excerpt: best.excerpt }
}

async function search() {
  const asked = input.value.trim()
  if (!asked) {
    status.textContent = ''
    list.replaceChildren()
    return
  }
  const found = await (await engine()).debouncedSearch(asked, {}, 120)
  if (!found) return // a later search took its place
  const pages = await Promise.all(found.results.slice(0, shown).map((result) => result.data()))
  if (asked !== input.value.trim()) return
  list.replaceChildren(...pages.map((page) => entry(parts(page))))
  status.textContent = found.results.length === 0 ? dialog.dataset.none : dialog.dataset.found.replace('{n}', found.results.length)
}

input.addEventListener('input', () => { search().catch(() => { status.textContent = dialog.dataset.missing }) })
input.addEventListener('keydown', (event) => {
  const first = list.querySelector('a')
  if (event.key === 'Enter' && first) {
    event.preventDefault()
    first.click()
  }
})
list.addEventListener('click', (event) => { if (event.target.closest('a')) dialog.close() })
button.addEventListener('click', open)
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea')) return
  event.preventDefault()
  open()
})
button.hidden = false
