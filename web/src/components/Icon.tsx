import type { ReactElement } from "react";

const paths = {
  overview: <><rect x="2.5" y="2.5" width="4.5" height="4.5" rx=".5" /><rect x="9" y="2.5" width="4.5" height="4.5" rx=".5" /><rect x="2.5" y="9" width="4.5" height="4.5" rx=".5" /><rect x="9" y="9" width="4.5" height="4.5" rx=".5" /></>,
  nodes: <><rect x="2" y="3" width="12" height="4" rx="1" /><rect x="2" y="9" width="12" height="4" rx="1" /><path d="M4.5 5h.1M4.5 11h.1" /></>,
  nodepools: <><circle cx="6" cy="8" r="4" /><circle cx="10" cy="8" r="4" /></>,
  podsets: <><rect x="2.5" y="6.5" width="7" height="7" rx="1" /><path d="M5.5 4h5.5a1 1 0 0 1 1 1v5.5M8 2h5a1 1 0 0 1 1 1v5" /></>,
  deployments: <><path d="M8 2.2 14 5.4 8 8.6 2 5.4z" /><path d="M2 8.6l6 3.2 6-3.2M2 11.4l6 3.2 6-3.2" /></>,
  services: <><circle cx="3.5" cy="8" r="1.5" /><circle cx="12.5" cy="4" r="1.5" /><circle cx="12.5" cy="12" r="1.5" /><path d="M5 7.5 11 4.5M5 8.5l6 3" /></>,
  pods: <><path d="M8 1.8 13.4 4.9v6.2L8 14.2l-5.4-3.1V4.9z" /><path d="M2.8 5 8 8l5.2-3M8 8v6" /></>,
  virtualmachines: <><rect x="2" y="3" width="12" height="8" rx="1" /><path d="M5.5 13.5h5" /></>,
  clusters: <><path d="M8 1.8 13.4 4.9v6.2L8 14.2l-5.4-3.1V4.9z" /><circle cx="8" cy="8" r="2" /></>,
  kubeconfigs: <><circle cx="5.2" cy="10.8" r="2.8" /><path d="M7.3 8.7 13 3M10.5 5.5 12.5 7.5" /></>,
  podbuggertools: <><rect x="2" y="3" width="12" height="10" rx="1" /><path d="M4.5 6.2 6.3 8l-1.8 1.8M8 10h3" /></>,
  namespaces: <path d="M2 4.5h4l1.5 2H14v6.5H2z" />,
  events: <path d="M2 8h2.5l2-4.5 3 9 2-4.5H14" />,
  search: <><circle cx="7" cy="7" r="4" /><path d="m10 10 3.5 3.5" /></>,
  down: <path d="m4.5 6.5 3.5 3.5 3.5-3.5" />,
  up: <path d="m4.5 9.5 3.5-3.5 3.5 3.5" />,
  left: <path d="m9.5 4.5-3.5 3.5 3.5 3.5" />,
  right: <path d="m6.5 4.5 3.5 3.5-3.5 3.5" />,
  close: <path d="m4 4 8 8M12 4l-8 8" />,
  moon: <path d="M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z" />,
  sun: <><circle cx="8" cy="8" r="3" /><path d="M8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1" /></>,
  copy: <><rect x="5.5" y="5.5" width="8" height="8" rx="1" /><path d="M3.5 10.5h-1v-8h8v1" /></>,
  check: <path d="m3.5 8.5 3 3 6-7" />,
  lock: <><rect x="3.5" y="7" width="9" height="6.5" rx="1" /><path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2" /></>,
  plus: <path d="M8 3.5v9M3.5 8h9" />,
  minus: <path d="M3.5 8h9" />,
  menu: <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />,
  more: <path d="M3.5 8h.1M8 8h.1M12.5 8h.1" />,
  download: <path d="M8 2.5v7.5M4.8 7 8 10.2 11.2 7M3 13.5h10" />,
  play: <path d="M5 3v10l8-5z" />,
  stop: <rect x="3.5" y="3.5" width="9" height="9" rx="1" />,
  pause: <path d="M5.5 3.5v9M10.5 3.5v9" />,
  again: <path d="M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3" />,
  closed: <><circle cx="8" cy="8" r="5.5" /><path d="m4.2 4.2 7.6 7.6" /></>,
  columns: <><rect x="2.5" y="3" width="11" height="10" rx="1" /><path d="M6.2 3v10M9.8 3v10" /></>,
} satisfies Record<string, ReactElement>;

export type IconName = keyof typeof paths;

export function isIcon(name: string): name is IconName {
  return name in paths;
}

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round">
      {paths[name]}
    </svg>
  );
}

/** The wheel of a windlass. */
export function Mark() {
  return (
    <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round">
      <circle cx="9" cy="9" r="4" />
      <path d="M9 1v4M9 13v4M1 9h4M13 9h4M3.4 3.4l2.8 2.8M11.8 11.8l2.8 2.8M14.6 3.4l-2.8 2.8M6.2 11.8l-2.8 2.8" />
    </svg>
  );
}
