import { Link } from "@tanstack/react-router";
import { useSay } from "../i18n";

export function NotFound() {
  const say = useSay();
  return <div className="blank"><h1>{say("page.notFound")}</h1><Link className="link" to="/">{say("page.home")}</Link></div>;
}
