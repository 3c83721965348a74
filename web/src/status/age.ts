/** An age as kubectl prints it: 45s, 12m, 3h20m, 6d. */
export function age(since: string | null | undefined, now: number): string {
  const at = since ? Date.parse(since) : Number.NaN;
  if (Number.isNaN(at) || at === 0) return "<unknown>"; // 1970 is the time of a default that nobody has written
  const seconds = Math.max(0, Math.floor((now - at) / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return hours % 24 === 0 ? `${days}d` : `${days}d${hours % 24}h`;
  if (days < 730) return `${days}d`;
  return `${Math.floor(days / 365)}y`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** A format is dear to make, and a list has one for each row. */
function format(language: string, date: boolean, year: boolean): Intl.DateTimeFormat {
  const key = `${language} ${date} ${year}`;
  let found = formats.get(key);
  if (!found) {
    formats.set(key, (found = new Intl.DateTimeFormat(language, {
      hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", ...(date ? { month: "short", day: "numeric" } : {}), ...(year ? { year: "numeric" } : {}),
    })));
  }
  return found;
}

/** The time of day of today, else the date with it, and the year of another one, in the reader's zone and language. */
export function clock(at: string | null | undefined, language: string, now: number): string {
  const time = at ? new Date(at) : undefined;
  if (!time || Number.isNaN(time.getTime())) return "?";
  const today = new Date(now);
  const sameYear = today.getFullYear() === time.getFullYear();
  const sameDay = sameYear && today.getMonth() === time.getMonth() && today.getDate() === time.getDate();
  return format(language, !sameDay, !sameYear).format(time);
}
