import { Menu } from "@base-ui/react/menu";
import { useNavigate } from "@tanstack/react-router";
import { Icon, isIcon } from "../../components/Icon";
import { forms } from "../../forms/registry";
import { useSay } from "../../i18n";
import { useHidden } from "../../live/hooks";
import { useUnmade } from "../create/useUnmade";

/** Everything that can be created, from one button. */
export function CreateMenu({ namespace }: { namespace: string | undefined }) {
  const say = useSay();
  const navigate = useNavigate();
  const hidden = useHidden();
  const unmade = useUnmade(namespace);
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className="btn"><Icon name="plus" size={14} />{say("overview.create")}</Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="over" sideOffset={4} align="end">
          <Menu.Popup className="pop menu" aria-label={say("overview.create")}>
            {forms.filter((form) => !hidden.includes(form.list)).map((form) => (
              <Menu.Item key={form.route} disabled={unmade(form) !== undefined} title={unmade(form)} onClick={() => void navigate({ to: "/create/$form", params: { form: form.route }, search: { ns: namespace } })}>
                <span className="row">{isIcon(form.list) && <Icon name={form.list} />}{say(form.title)}</span>
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
