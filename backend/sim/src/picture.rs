//! Pictures as SVG text: areas, lines and bars over time, in the page's own colours.
//!
//! Colours are CSS variables, so that one picture is readable in dark and light. This module knows numbers and names,
//! nothing of jobs; and it refuses scripts.

use std::fmt::Write;

/// A curve with a name and a colour class.
#[derive(Debug, Clone)]
pub(crate) struct Curve<'a> {
    pub(crate) name: &'a str,
    pub(crate) class: String,
    pub(crate) values: Vec<f64>,
}

/// Where a picture is drawn, and how far its axes go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) most: f64,
    pub(crate) spans: usize,
    pub(crate) span_secs: f64,
}

const LEFT: f64 = 46.0;
const BOTTOM: f64 = 20.0;
const TOP: f64 = 6.0;

impl Frame {
    fn x(&self, span: usize) -> f64 {
        LEFT + (self.width - LEFT) * span as f64 / self.spans.max(1) as f64
    }

    fn y(&self, value: f64) -> f64 {
        let part = if self.most > 0.0 { (value / self.most).clamp(0.0, 1.0) } else { 0.0 };
        TOP + (self.height - TOP - BOTTOM) * (1.0 - part)
    }
}

/// A whole picture; `title` is for those who cannot see it.
pub(crate) fn svg(frame: &Frame, title: &str, inside: &str) -> String {
    let Frame { width, height, .. } = frame;
    format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\"><title>{}</title>{}{inside}</svg>",
        escape(title),
        axes(frame)
    )
}

/// Curves on top of each other, the first at the bottom.
pub(crate) fn stacked(frame: &Frame, curves: &[Curve<'_>]) -> String {
    let mut below = vec![0.0; frame.spans];
    let mut drawn = String::new();
    for curve in curves {
        let above: Vec<f64> = below.iter().zip(&curve.values).map(|(below, value)| below + value).collect();
        let _ = write!(
            drawn,
            "<path class=\"{}\" d=\"{}\"><title>{}</title></path>",
            curve.class,
            band(frame, &below, &above),
            escape(curve.name)
        );
        below = above;
    }
    drawn
}

/// A curve as steps.
pub(crate) fn line(frame: &Frame, curve: &Curve<'_>) -> String {
    format!(
        "<path class=\"{}\" d=\"{}\"><title>{}</title></path>",
        curve.class,
        steps(frame, &curve.values, true),
        escape(curve.name)
    )
}

fn band(frame: &Frame, below: &[f64], above: &[f64]) -> String {
    let mut path = steps(frame, above, true);
    for (span, value) in below.iter().enumerate().rev() {
        let _ = write!(path, "L{:.1} {:.1}", frame.x(span + 1), frame.y(*value));
        let _ = write!(path, "L{:.1} {:.1}", frame.x(span), frame.y(*value));
    }
    path.push('Z');
    path
}

fn steps(frame: &Frame, values: &[f64], first: bool) -> String {
    let mut path = String::new();
    let mut known = f64::NAN;
    for (span, &value) in values.iter().enumerate() {
        let y = frame.y(value);
        let start = if span == 0 && first { 'M' } else { 'L' };
        // A flat stretch is one line: its inner corners say nothing.
        if span == 0 || (y - known).abs() > 0.04 {
            let _ = write!(path, "{start}{:.1} {y:.1}", frame.x(span));
        }
        if values.get(span + 1).is_none_or(|next| (frame.y(*next) - y).abs() > 0.04) {
            let _ = write!(path, "L{:.1} {y:.1}", frame.x(span + 1));
        }
        known = y;
    }
    path
}

fn axes(frame: &Frame) -> String {
    let mut drawn = String::new();
    for value in [0.0, frame.most / 2.0, frame.most] {
        let y = frame.y(value);
        let _ = write!(
            drawn,
            "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{:.0}\"/><text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            frame.width,
            LEFT - 5.0,
            y + 3.5,
            short(value)
        );
    }
    let days = frame.spans as f64 * frame.span_secs / 86_400.0;
    let step = [0.25, 0.5, 1.0, 2.0, 5.0, 7.0, 14.0, 30.0, 60.0, 120.0, 365.0];
    let step = step.into_iter().find(|step| days / step <= 10.0).unwrap_or(days / 5.0);
    let mut day = 0.0;
    while day <= days {
        let x = LEFT + (frame.width - LEFT) * day / days.max(f64::MIN_POSITIVE);
        let anchor = if x > frame.width - 30.0 { "end" } else { "middle" };
        let _ = write!(
            drawn,
            "<text x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"{anchor}\">day {}</text>",
            frame.height - 5.0,
            short(day)
        );
        day += step;
    }
    drawn
}

/// A number in few characters.
fn short(value: f64) -> String {
    if value >= 100.0 || value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// Text that HTML takes as text.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out_and_flat_stretches_are_one_line() {
        let frame = Frame { width: 100.0, height: 50.0, most: 4.0, spans: 3, span_secs: 60.0 };
        let curve = Curve { name: "<b>&\"", class: "c0".into(), values: vec![2.0, 2.0, 2.0] };
        let drawn = line(&frame, &curve);
        assert!(drawn.contains("&lt;b&gt;&amp;&quot;") && !drawn.contains("<b>"), "{drawn}");
        assert_eq!(drawn.matches('L').count(), 1, "{drawn}");
    }
}
