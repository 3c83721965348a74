/** An age as kubectl prints it: 45s, 12m, 3h20m, 6d. */
export function age(since: string | null | undefined, now: number): string {
  const at = since ? Date.parse(since) : Number.NaN;
  if (Number.isNaN(at)) return "<unknown>";
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

/** The time of day of today, else the date with it, and the year of another one, in the reader's zone and language. */
export function clock(at: string | null | undefined, language: string, now: number): string {
  const time = at ? new Date(at) : undefined;
  if (!time || Number.isNaN(time.getTime())) return "?";
  const sameDay = new Date(now).toDateString() === time.toDateString();
  const options: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false };
  const date: Intl.DateTimeFormatOptions = { ...options, month: "short", day: "numeric" };
  if (new Date(now).getFullYear() !== time.getFullYear()) date.year = "numeric";
  return new Intl.DateTimeFormat(language, sameDay ? options : date).format(time);
}
