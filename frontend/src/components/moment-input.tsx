type Props = {
  id?: string;
  value?: string | undefined;
  onChange?: (value: string) => void;
  min?: string | undefined;
  disabled?: boolean;
  "aria-label"?: string;
  "aria-required"?: boolean | "true" | "false";
  "aria-invalid"?: boolean | "true" | "false";
  "aria-describedby"?: string;
};

/** A moment on the reader's own clock, by the browser's own field. */
export function MomentInput({ onChange, value, ...rest }: Props) {
  return (
    <input
      {...rest}
      type="datetime-local"
      className="moment"
      value={value ?? ""}
      onChange={(event) => onChange?.(event.target.value)}
    />
  );
}
