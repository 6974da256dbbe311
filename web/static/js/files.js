// A source of several files in one text: each header follows a line that names it (judge/compile/source_files.py).

const MARK = /^\/\/ gpujudge: file=(\S+)[ \t]*$/gm;

/** The files of a text: their names, texts and first lines. */
export function splitFiles(text, main = "kernel.cu") {
  const files = [{ name: main, start: 0 }];
  for (const found of text.matchAll(MARK)) {
    files.at(-1).end = found.index;
    files.push({ name: found[1], start: found.index + found[0].length + 1 });
  }
  return files.map(({ name, start, end }) => ({
    name,
    text: text.slice(start, end),
    line: text.slice(0, start).split("\n").length,
  }));
}

/** The text of a file and its headers. */
export function joinFiles([main, ...headers]) {
  return headers.reduce(
    (text, { name, text: header }) => `${ended(text)}// gpujudge: file=${name}\n${header}`,
    main.text,
  );
}

const ended = (text) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

/**
 * The text after these files were opened: one that defines `solve` replaces everything, a header the one of its name, or
 * is added.
 */
export function withOpened(text, opened) {
  const main =
    opened.length === 1 && !/\.(cuh|h|hh|hpp|hxx|inc|inl|ipp|tpp)$/.test(opened[0].name)
      ? opened[0]
      : opened.find(({ name, text: content }) => /\.(cu|cpp|cc)$/.test(name) && content.includes("solve"));
  const headers = opened.filter((file) => file !== main && file.name !== "solve.h");
  const kept = main ? splitFiles(main.text) : splitFiles(text);
  const names = headers.map(({ name }) => name);
  return joinFiles([...kept.filter(({ name }) => !names.includes(name)), ...headers]);
}

/** Shows the files of the editor's text as buttons that lead to where they begin; none of a single file. */
export function showFiles(list, text, goTo, main) {
  const files = splitFiles(text, main);
  const key = JSON.stringify(files.map(({ name, line }) => [name, line]));
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  list.replaceChildren(
    ...(files.length === 1
      ? [files[0].name]
      : files.map(({ name, line }) => {
          const button = document.createElement("button");
          button.type = "button";
          button.className = "chip";
          button.textContent = name;
          button.addEventListener("click", () => goTo(line));
          return button;
        })),
  );
}
