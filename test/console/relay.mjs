// A cable between the browser and the console, which can be pulled out.
import { connect, createServer } from "node:net";

/** Passes connections on to a URL, and returns the same URL at its own end. */
export async function relay(to) {
  const { hostname, port } = new URL(to);
  const open = new Set();
  let vanishing = false;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [end, other] of [[near, far], [far, near]]) {
      open.add(end);
      if (!vanishing) end.pipe(other);
      end.on("error", () => other.destroy());
      end.on("close", () => { open.delete(end); other.destroy(); });
    }
  });
  const listen = (at) => new Promise((done) => server.listen(at, "127.0.0.1", done));
  await listen(0);
  const at = server.address().port;
  return {
    url: to.replace(`:${port}`, `:${at}`),
    /** Nothing gets through any more, and nobody answers. */
    cut: () => { server.close(); for (const end of open) end.destroy(); },
    mend: () => listen(at),
    /** Nothing gets through any more, and nobody is told: packets vanish, as in a network that has forgotten a connection. */
    vanish: () => { vanishing = true; for (const end of open) { end.unpipe(); end.pause(); } },
    /** What is opened from now on gets through; what was open before is of no use, and its ends learn it. */
    appear: () => { vanishing = false; for (const end of open) end.destroy(); },
    end: () => { server.close(); for (const end of open) end.destroy(); },
  };
}
