/** Splits a command as a shell would, without expanding anything: words, 'single', "double", back\slash. */
export function splitCommand(line: string): { words: string[]; open: boolean } {
  const words: string[] = [];
  let word = "";
  let inWord = false;
  let quote: '"' | "'" | null = null;
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at] as string;
    if (quote == null && /\s/.test(char)) {
      if (inWord) words.push(word);
      word = "";
      inWord = false;
    } else if (char === "\\" && quote !== "'" && at + 1 < line.length) {
      at += 1;
      word += line[at];
      inWord = true;
    } else if (quote == null && (char === '"' || char === "'")) {
      quote = char;
      inWord = true;
    } else if (char === quote) {
      quote = null;
    } else {
      word += char;
      inWord = true;
    }
  }
  if (inWord) words.push(word);
  return { words, open: quote != null };
}

const PLAIN = /^[\w@%+=:,./-]+$/;
/** The inverse: a line that splits into these words. */
export function joinCommand(words: string[]): string {
  return words.map((word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

/** `NAME=value` lines; the first that is none is named. */
export function parsePairs(text: string): { pairs: Record<string, string>; bad: string | null } {
  const pairs: Record<string, string> = {};
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const at = line.indexOf("=");
    if (at < 1) return { pairs, bad: line.trim() };
    pairs[line.slice(0, at).trim()] = line.slice(at + 1);
  }
  return { pairs, bad: null };
}

export const formatPairs = (pairs: Record<string, string>) =>
  Object.entries(pairs)
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");
