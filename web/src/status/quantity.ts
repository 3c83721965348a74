const units: Record<string, number> = {
  n: 1e-9, u: 1e-6, m: 1e-3, "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18,
  Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60,
};

/** The number that a quantity of Kubernetes stands for; 0 for one that cannot be read. */
export function quantity(of: string | number | undefined): number {
  if (typeof of === "number") return of;
  const match = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([numkMGTPE]?i?)$/.exec(of ?? "");
  const unit = match ? units[match[2] ?? ""] : undefined;
  return match && unit !== undefined ? Number(match[1]) * unit : 0;
}

function short(value: number): string {
  return value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1).replace(/\.0$/, "");
}

export function cores(value: number): string {
  return short(value);
}

/** Memory in Gi, or in Mi below one. */
export function gibi(bytes: number): string {
  return bytes >= 2 ** 30 || bytes === 0 ? `${short(bytes / 2 ** 30)} Gi` : `${Math.round(bytes / 2 ** 20)} Mi`;
}
