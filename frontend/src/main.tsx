import { createRoot } from "react-dom/client";
import { startI18n } from "./i18n";
import { Root } from "./root";
import { currentLocale } from "./settings/preferences";
import "./styles/base.css";
import "./styles/frame.css";
import "./styles/pictures.css";
import "./styles/pages.css";
import "./styles/reclaims.css";
import "./styles/timeline.css";
import "./styles/forms.css";
import "./styles/narrow.css";

startI18n(currentLocale());
const element = document.getElementById("root");
if (element) createRoot(element).render(<Root />);
