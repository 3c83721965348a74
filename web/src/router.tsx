import { createRootRoute, createRoute, createRouter, lazyRouteComponent, retainSearchParams } from "@tanstack/react-router";
import { arrives, Failed } from "./components/later";
import { Shell } from "./shell/Shell";
import { NotFound } from "./pages/NotFound";
import { Overview } from "./pages/overview/Overview";

/** What the address says beside the path: what one person sees can be sent to another. */
export interface Search {
  ns?: string | undefined;
  /** Filter of a list, as it is typed. */
  q?: string | undefined;
  /** Its label selector and its field selector. */
  l?: string | undefined;
  f?: string | undefined;
  sort?: string | undefined;
  /** How a list is grouped. */
  group?: string | undefined;
  /** Object in the drawer. */
  open?: string | undefined;
  /** Tab of an object. */
  tab?: string | undefined;
  /** Columns that are shown, if they are not the usual ones. */
  cols?: string | undefined;
  /** Container of a pod that its terminal begins with. */
  container?: string | undefined;
  /** Name of what a form is to make something for. */
  of?: string | undefined;
}

function search(from: Record<string, unknown>): Search {
  const out: Search = {};
  for (const name of ["ns", "q", "l", "f", "sort", "group", "open", "tab", "cols", "container", "of"] as const) {
    const value = from[name];
    if (typeof value === "string" && value !== "") out[name] = value;
    else if (typeof value === "number") out[name] = String(value);
  }
  return out;
}

// A page that does not arrive says so: the router would load the whole program again, which without a network ends in a page of the browser's own.
const pages = {
  list: lazyRouteComponent(() => arrives(() => import("./pages/list/ListPage")), "ListPage"),
  clusterObject: lazyRouteComponent(() => arrives(() => import("./pages/object/ObjectPage")), "ClusterObjectPage"),
  object: lazyRouteComponent(() => arrives(() => import("./pages/object/ObjectPage")), "NamespacedObjectPage"),
  create: lazyRouteComponent(() => arrives(() => import("./pages/create/CreatePage")), "CreatePage"),
};

/** What opens over a page: some of it can be wanted just when there is no network. */
const layers = [
  () => import("./actions/DeedMenu"), () => import("./actions/Confirm"), () => import("./pages/list/RowMenu"), () => import("./pages/list/ColumnChoice"),
  () => import("./shell/Palette"), () => import("./shell/KeyHelp"), () => import("./components/Reason"),
];

/** Loads what has not been opened yet: without a network, what is not there would end in a page of the browser's own. */
export function loadPages(): void {
  for (const page of Object.values(pages)) void page.preload?.();
  for (const load of layers) void load().catch(() => undefined);
}

// The namespace applies to all pages: a link that says nothing of it keeps it.
const root = createRootRoute({ component: Shell, validateSearch: search, search: { middlewares: [retainSearchParams(["ns"])] }, notFoundComponent: NotFound });
const overview = createRoute({ getParentRoute: () => root, path: "/", component: Overview });
const list = createRoute({ getParentRoute: () => root, path: "/$kind", component: pages.list });
const clusterObject = createRoute({ getParentRoute: () => root, path: "/$kind/$name", component: pages.clusterObject });
const create = createRoute({ getParentRoute: () => root, path: "/create/$form", component: pages.create });
const object = createRoute({ getParentRoute: () => root, path: "/$kind/$namespace/$name", component: pages.object });

export const router = createRouter({ routeTree: root.addChildren([overview, list, create, clusterObject, object]), defaultPreload: "intent", defaultErrorComponent: Failed });

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
