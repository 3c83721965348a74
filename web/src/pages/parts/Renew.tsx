import { type Key, useSay } from "../../i18n";

/** What has come and gone since a list is held, for the reader to ask for. It stands where it moves no row. */
export function Renew({ added, gone, text = "list.moved", onShow }: { added: number; gone: number; text?: Key; onShow: () => void }) {
  const say = useSay();
  if (added + gone === 0) return null;
  return <button type="button" className="plain small nowrap" onClick={onShow}>{say(text, { added, gone })}</button>;
}
