import "./design/tokens.css";
import "./design/base.css";
import "./design/shell.css";
import "./design/controls.css";
import "./design/status.css";
import "./design/panels.css";
import "./design/list.css";
import "./design/layers.css";
import "./design/pictures.css";
import "./design/detail.css";
import "./design/pool.css";
import "./design/gate.css";
import "./design/edit.css";
import "./design/form.css";
import "./design/narrow.css";
import "./design/cards.css";
import "./design/forced.css";
import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { attend } from "./api/attended";
import { Refusal } from "./api/client";
import { Missing } from "./components/later";
import { loadPages, router } from "./router";
import { Speaking } from "./shell/Preferences";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      refetchOnWindowFocus: false,
      // A refusal is an answer: only what did not arrive is asked for again.
      retry: (count, error) => count < 2 && !(error instanceof Refusal && error.problem.status >= 400 && error.problem.status < 500),
    },
  },
});

attend(window);

const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce;
const place = document.getElementById("root");
if (place) {
  // What did not arrive is in the console of the browser already, as a request that failed.
  createRoot(place, { onCaughtError: (error) => { if (!(error instanceof Missing)) console.error(error); } }).render(
    <StrictMode>
      <CSPProvider {...(nonce ? { nonce } : {})}>
        <QueryClientProvider client={client}>
          <Speaking>
            <RouterProvider router={router} />
          </Speaking>
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  );
  // Once the first page is there.
  setTimeout(loadPages, 1000);
}
