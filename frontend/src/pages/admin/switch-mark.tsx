import { CheckIcon, StopIcon } from "../../components/icons";
import { Mark } from "../../components/tags";
import { useText } from "../../lib/use-text";

/** On or off, in words. */
export function SwitchMark({ state }: { state: string }) {
  const { word } = useText();
  const on = state === "enabled";
  return (
    <Mark tone={on ? "good" : "free"} icon={on ? <CheckIcon /> : <StopIcon />}>
      {word("switch", state)}
    </Mark>
  );
}
